"""Runs the steps on the connection that service/storage/migrate.py hands over."""

from alembic import context

from service.storage import file_tables, job_tables  # noqa: F401 (their tables belong to Row too)
from service.storage.tables import Row

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Row.metadata,
    render_as_batch=True,  # SQLite can hardly alter a table: it is copied instead
)
with context.begin_transaction():
    context.run_migrations()
