"""Datasets and the files that hold them."""

from uuid import uuid4

import pytest
from sqlalchemy import text

from service.errors import Conflict, Misfit, NotFound
from service.storage import datasets, files, jobs
from service.storage.engine import Store
from service.storage.migrate import downgrade
from service.storage.records import (
    Claim,
    DatasetDraft,
    JobKind,
    NewJob,
    StoredDataset,
    StoredFile,
)
from service.storage.retention import forget
from service.tree.summary import ColumnSummary


def test_a_dataset_is_kept_with_all_that_is_known_of_it(store: Store) -> None:
    kept = saved(store)

    assert ("瓜.csv", 17, "西", {"青": 3}) == (
        kept.name,
        kept.n_rows,
        kept.columns[0].name,
        kept.columns[0].values,
    )
    assert (Misfit(3, "西", "odd"),) == kept.warnings
    with store.reading() as session:
        assert kept == datasets.fetch_dataset(session, kept.id)


def test_datasets_are_listed_the_newest_first(store: Store) -> None:
    ids = [saved(store).id for _ in range(3)]

    with store.reading() as session:
        page = datasets.list_datasets(session, limit=2)
        rest = datasets.list_datasets(session, after=page.next, limit=2)

    assert sorted(ids) == sorted(each.id for each in (*page.items, *rest.items))
    assert rest.next is None


def test_a_dataset_that_a_job_needs_cannot_be_deleted(store: Store) -> None:
    kept = saved(store)
    job = ordered(store, kept)

    with pytest.raises(Conflict, match=job), store.writing() as session:
        datasets.delete_dataset(session, kept.id)

    with store.writing() as session:
        jobs.cancel(session, job)
    with store.writing() as session:
        datasets.delete_dataset(session, kept.id)
    with pytest.raises(NotFound), store.reading() as session:
        datasets.fetch_dataset(session, kept.id)
    assert [kept.file.name] == unneeded(store)


def test_a_job_cannot_be_ordered_on_a_dataset_that_is_gone(store: Store) -> None:
    kept = saved(store)
    with store.writing() as session:
        datasets.delete_dataset(session, kept.id)

    with pytest.raises(NotFound):
        ordered(store, kept)


def test_a_file_that_is_being_written_is_needed(store: Store) -> None:
    claim = claimed(store)
    with store.writing() as session:
        files.announce(session, "one.parquet", "parquet")
        files.announce(session, "two.csv", "csv", claim)

    assert [] == unneeded(store)


def test_what_a_killed_worker_has_written_is_not_needed(store: Store) -> None:
    claim = claimed(store)
    with store.writing() as session:
        files.announce(session, "half.csv", "csv", claim)
        jobs.release(session, claim)

    assert ["half.csv"] == unneeded(store)
    with store.writing() as session:
        files.forget(session, "half.csv")
    assert [] == unneeded(store)


def test_a_result_is_needed_as_long_as_its_job(store: Store) -> None:
    claim = claimed(store)
    with store.writing() as session:
        files.announce(session, "whole.csv", "csv", claim)
        files.settle(session, StoredFile("whole.csv", "csv", 3, "abc"))
        jobs.finish(session, claim, 1)

    assert [] == unneeded(store)
    with store.reading() as session:
        assert StoredFile("whole.csv", "csv", 3, "abc") == files.fetch_result(session, claim.job_id)
    with store.writing() as session:
        assert 1 == forget(session, keep_seconds=-1.0)
    assert ["whole.csv"] == unneeded(store)


def test_a_file_that_was_given_up_is_not_kept_after_all(store: Store) -> None:
    with store.writing() as session:
        files.announce(session, "late.parquet", "parquet")
        files.doom(session, "late.parquet")

    with pytest.raises(NotFound, match="given up"), store.writing() as session:
        files.settle(session, StoredFile("late.parquet", "parquet", 3, "abc"))


def test_of_jobs_that_the_release_before_does_not_know_nothing_is_left(store: Store) -> None:
    ordered(store, saved(store))
    with store.writing() as session:
        jobs.submit(session, "inline", NewJob("melons", b"body"), 3)

    downgrade(store, "0003")

    with store.reading() as session:
        for table, column in (("jobs", "id"), ("job_inputs", "job_id")):
            assert ["inline"] == session.scalars(text(f"SELECT {column} FROM {table}")).all()


def saved(store: Store) -> StoredDataset:
    dataset_id = str(uuid4())
    column = ColumnSummary(
        name="西", kind="categorical", nulls=1, distinct=1, values={"青": 3}, first_null=2
    )
    draft = DatasetDraft(
        name="瓜.csv",
        format="csv",
        n_rows=17,
        columns=(column,),
        warnings=(Misfit(3, "西", "odd"),),
        first_line=2,
        n_bytes=99,
        checksum="def",
    )
    file = StoredFile(f"{dataset_id}.parquet", "parquet", 50, "abc")
    with store.writing() as session:
        files.announce(session, file.name, file.format)
    with store.writing() as session:
        return datasets.save_dataset(session, dataset_id, draft, file)


def ordered(store: Store, dataset: StoredDataset) -> str:
    new = NewJob("melons", b"body", JobKind.BATCH_PREDICT, dataset.id, 1)
    with store.writing() as session:
        return jobs.submit(session, str(uuid4()), new, 3).id


def claimed(store: Store) -> Claim:
    with store.writing() as session:
        jobs.submit(session, str(uuid4()), NewJob("melons", b"", JobKind.BATCH_PREDICT), 3)
    with store.writing() as session:
        claim = jobs.claim(session, "a worker", 30.0)
    assert claim is not None
    return claim


def unneeded(store: Store) -> list[str]:
    with store.writing() as session:
        return sorted(files.list_unneeded(session))
