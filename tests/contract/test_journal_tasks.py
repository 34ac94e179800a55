"""Tasks are kept as they were said, last word first."""

from holdfast.core.task import Task, TaskState
from holdfast.core.value import replace

FIRST = Task(id="aa", title="first \u2028 title", description="d" * 9000, created_at=1)
SECOND = Task(id="bb", title="second", created_at=2)


async def test_the_last_word_on_a_task_is_kept_and_the_newest_comes_first(store):  # spec: A11
    async with store.open() as journal:
        assert await journal.tasks() == []
        for task in (FIRST, SECOND):
            await journal.put_task(task)
        closed = replace(FIRST, closed=TaskState.DONE, closed_at=9)
        await journal.put_task(closed)
        assert await journal.tasks() == [SECOND, closed]
    async with store.open() as journal:
        assert await journal.tasks() == [SECOND, closed]


async def test_a_damaged_task_is_shown_as_such_and_hides_no_other(store):  # spec: M1
    async with store.open() as journal:
        for task in (FIRST, SECOND):
            await journal.put_task(task)
        store.run("update task set body = ? where id = ?", b"{", "aa")
        found = await journal.tasks()
        assert [t.id for t in found] == ["bb", "aa"]
        assert "damaged" in found[1].title
