"""Regression, cost-complexity sequences, sets of categories and costs."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NODE_COLUMNS = ("mean", "variance", "alpha_cut", "state")
VERSION_COLUMNS = ("alpha", "group_costs")
# What the schema before could not hold: neither could its release serve it.
NEWER = """
    SELECT id FROM versions
    WHERE task <> 'classification' OR alpha IS NOT NULL
       OR REPLACE(CAST(attributes AS TEXT), ' ', '') LIKE '%"kind":"ordinal"%'
       OR id IN (SELECT version_id FROM nodes WHERE operator IN ('in', 'is null'))
       OR id IN (SELECT version_id FROM nodes WHERE split IN ('subset', 'one_vs_rest'))
"""
OF_A_VERSION = ("aliases", "node_values", "node_weights", "nodes", "classes")


def upgrade() -> None:
    for column in ("mean", "variance", "alpha_cut"):
        op.add_column("nodes", sa.Column(column, sa.Double))
    op.add_column("nodes", sa.Column("state", sa.Text, nullable=False, server_default="leaf"))
    op.execute("UPDATE nodes SET state = 'inner' WHERE attribute IS NOT NULL")
    op.add_column("versions", sa.Column("alpha", sa.Double))
    op.add_column(
        "versions", sa.Column("group_costs", sa.JSON, nullable=False, server_default="{}")
    )


def downgrade() -> None:
    remove_newer(op.get_bind())
    for column in VERSION_COLUMNS:
        op.drop_column("versions", column)
    for column in NODE_COLUMNS:
        op.drop_column("nodes", column)


def remove_newer(connection: sa.Connection) -> None:
    """Remove what only this schema holds; by hand, since SQLite migrates without cascades."""
    newer = {"newer": connection.scalars(sa.text(NEWER)).all()}
    for table, column in [(table, "version_id") for table in OF_A_VERSION] + [("versions", "id")]:
        statement = sa.text(f"DELETE FROM {table} WHERE {column} IN :newer")
        connection.execute(statement.bindparams(sa.bindparam("newer", expanding=True)), newer)
