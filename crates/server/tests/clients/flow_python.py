"""The flow through the Python client, which finds the newest revision by itself.

One order from its creation to its approval, by two agents, with every detour on the way: over stdio with a process for each
agent, and over HTTP with a key for each.
"""

import contextlib
import datetime
import json
import re
import time
from contextlib import asynccontextmanager

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import harness
from harness import KEYS, MANAGER, WORKER, step

REVISION = "2026-07-28"
TOOLS = [
    "accept_work_order",
    "allow_effect_retry",
    "answer_question",
    "cancel_work_order",
    "create_work_order",
    "decline_work_order",
    "get_track_record",
    "get_work_order",
    "list_work_orders",
    "report_progress",
    "review_work_report",
    "start_work_order",
    "submit_work_report",
    "wait_for_update",
]


async def main():
    harness.give_up_after(harness.RUN_SECONDS)
    await over_stdio("Python, stdio")
    await over_http("Python, HTTP")
    harness.finish()


async def over_stdio(title):
    with harness.folder() as folder:
        store = f"sqlite:{folder / 'desk.db'}"

        def connect(agent):
            arguments = ["mcp", "--as", agent, "--store", store]
            return Client(StdioServerParameters(command=harness.program(), args=arguments))

        await with_both(title, connect)


async def over_http(title):
    with harness.folder() as folder:
        servers = []

        async def start():
            servers.append(await anyio.to_thread.run_sync(harness.Server, folder))

        if not await step(f"{title}: the server starts", start):
            return
        (server,) = servers

        @asynccontextmanager
        async def connect(agent):
            headers = {"Authorization": f"Bearer {KEYS[agent]}"}
            async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(60)) as http:
                async with Client(streamable_http_client(server.url, http_client=http)) as client:
                    yield client

        await with_both(title, connect)

        async def stop():
            await anyio.to_thread.run_sync(server.stop)

        await step(f"{title}: the server stops when asked to", stop)


async def with_both(title, connect):
    """Connects both agents and runs the flow."""
    async with contextlib.AsyncExitStack() as stack:
        agents = {}

        async def connect_both():
            for agent in (MANAGER, WORKER):
                client = await stack.enter_async_context(connect(agent))
                assert client.protocol_version == REVISION, client.protocol_version
                agents[agent] = client

        if await step(f"{title}: two agents connect", connect_both):
            await flow(title, Flow(agents[MANAGER], agents[WORKER]))


async def flow(title, of):
    for run in (
        of.tools_describe_themselves,
        of.manager_creates,
        of.worker_finds,
        of.worker_starts,
        of.progress_is_recorded,
        of.wrong_report,
        of.blocked_and_answered,
        of.right_report,
        of.rework_wakes,
        of.approval_wakes,
        of.track_record,
        of.nobody_acts_for_another,
        of.malformed_calls,
        of.huge_argument,
    ):
        if not await step(f"{title}: {run.__name__.replace('_', ' ')}", run):
            # The rest builds on it.
            return


class Flow:
    """The steps, in order; each leaves what the next one needs."""

    def __init__(self, manager, worker):
        self.manager = manager
        self.worker = worker
        self.id = None

    async def tools_describe_themselves(self):
        tools = (await self.worker.list_tools(cache_mode="bypass")).tools
        assert sorted(tool.name for tool in tools) == TOOLS, [tool.name for tool in tools]
        assert (await self.worker.list_tools(cache_mode="bypass")).tools == tools, "two listings are the same"
        for tool in tools:
            hints = tool.annotations
            assert tool.title or hints.title, f"{tool.name} has a title"
            assert tool.description, f"{tool.name} has a description"
            for hint in (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint):
                assert isinstance(hint, bool), f"{tool.name} says every hint"
            assert tool.input_schema["type"] == "object", f"{tool.name} has an input schema"
            assert tool.output_schema["type"] == "object", f"{tool.name} has an output schema"

    async def manager_creates(self):
        view = await value(
            self.manager,
            "create_work_order",
            to=WORKER,
            goal="Find the outage window and name it",
            criteria=[
                {"id": "window", "text": "The window is named, with its source"},
                {"id": "cause", "text": "The cause is named"},
            ],
            budget={"usd": 1, "tool_calls": 10},
            deadline=in_an_hour(),
            tools=["status/*"],
            output_schema={"type": "object", "required": ["minutes"], "properties": {"minutes": {"type": "integer"}}},
            metadata={"ticket": 7},
        )
        self.id = view["id"]
        assert re.fullmatch(r"wo_[0-9a-f]{16}", self.id), self.id
        assert (view["state"], view["from"], view["to"]) == ("offered", MANAGER, WORKER)
        assert view["order"]["from"] == MANAGER
        assert view["order"]["metadata"] == {"ticket": 7}
        assert (view["latest_report"], view["findings"], view["last_seq"]) == (None, [], 1)
        (event,) = view["events"]
        assert (event["seq"], event["action"], event["from"], event["to"]) == (1, "create", None, "offered")

    async def worker_finds(self):
        offered = await value(self.worker, "list_work_orders", to=WORKER, state="offered")
        assert [summary["id"] for summary in offered] == [self.id]
        assert await value(self.worker, "list_work_orders", to=MANAGER) == []
        assert (await value(self.worker, "get_work_order", id=self.id))["order"]["id"] == self.id
        assert await code(self.worker, "get_work_order", id="wo_0000000000000000") == "NOT_FOUND"

    async def worker_starts(self):
        assert await code(self.manager, "accept_work_order", id=self.id) == "FORBIDDEN"
        assert await code(self.worker, "start_work_order", id=self.id) == "INVALID_TRANSITION"
        assert (await value(self.worker, "accept_work_order", id=self.id))["state"] == "accepted"
        assert (await value(self.worker, "start_work_order", id=self.id))["state"] == "working"
        assert await code(self.worker, "decline_work_order", id=self.id) == "INVALID_TRANSITION"

    async def progress_is_recorded(self):
        view = await value(self.worker, "report_progress", id=self.id, note="read the status page", percent=40)
        assert view["state"] == "working"
        assert (view["events"][-1]["action"], view["events"][-1]["note"]) == ("progress", "read the status page")
        assert await code(self.worker, "report_progress", id=self.id, note="more", percent=101) == "BAD_REQUEST"
        assert await code(self.manager, "report_progress", id=self.id, note="hurry") == "FORBIDDEN"

    def report(self, **changes):
        return {
            "id": self.id,
            "status": "done",
            "result": {"summary": "The window is 14 minutes", "output": {"minutes": 14}},
            "evidence": [
                {"criterion": "window", "type": "tool_call", "ref": "status/window#1"},
                {"criterion": "cause", "type": "note", "note": "said by the operator"},
            ],
            "cost": {"usd": 0.25, "tool_calls": 1},
            "tools_used": ["status/window"],
            **changes,
        }

    async def wrong_report(self):
        wrong = self.report(
            result={"summary": "The window is long", "output": {}},
            evidence=[{"criterion": "window", "type": "tool_call", "ref": "web/get#1"}],
            tools_used=["web/get"],
        )
        error = await refusal(self.worker, "submit_work_report", **wrong)
        assert error["code"] == "VALIDATION_FAILED", error
        found = sorted(f"{finding['rule']} {finding['kind']} {finding['path']}" for finding in error["findings"])
        assert found == ["R11 invalid /result/output", "R4 invalid /evidence", "R5 invalid /tools_used/0"], found
        view = await value(self.worker, "get_work_order", id=self.id)
        assert (view["state"], view["latest_report"]) == ("working", None)

    async def blocked_and_answered(self):
        blocked = self.report(status="blocked", evidence=[], result={"summary": "I need a word"})
        error = await refusal(self.worker, "submit_work_report", **blocked)
        assert [finding["rule"] for finding in error["findings"]] == ["R9"]
        summary = await value(self.worker, "submit_work_report", **blocked, questions=["Which time zone?"])
        assert (summary["state"], summary["findings"]) == ("blocked", [])
        assert await code(self.worker, "answer_question", id=self.id, answer="mine") == "FORBIDDEN"
        assert await code(self.manager, "answer_question", id=self.id, answer=" ") == "BAD_REQUEST"
        view = await value(self.manager, "answer_question", id=self.id, answer="UTC")
        assert (view["state"], view["events"][-1]["note"]) == ("working", "UTC")
        assert view["latest_report"]["questions"] == ["Which time zone?"]

    async def right_report(self):
        summary = await value(self.worker, "submit_work_report", **self.report())
        assert (summary["id"], summary["state"], summary["findings"]) == (self.id, "submitted", [])
        report = (await value(self.worker, "get_work_order", id=self.id))["latest_report"]
        assert (report["attempt"], report["from"], report["order_id"]) == (2, WORKER, self.id)

    async def rework_wakes(self):
        assert await code(self.worker, "review_work_report", id=self.id, decision="approve") == "FORBIDDEN"
        assert await code(self.manager, "review_work_report", id=self.id, decision="rework") == "BAD_REQUEST"
        view = await self.wakes_on(decision="rework", reason="name the cause")
        assert (view["state"], view["events"][-1]["note"]) == ("working", "name the cause")

    async def approval_wakes(self):
        await value(self.worker, "submit_work_report", **self.report(cost={"usd": 0.5, "tool_calls": 2}))
        assert (await self.wakes_on(decision="approve"))["state"] == "approved"
        assert await code(self.manager, "cancel_work_order", id=self.id) == "INVALID_TRANSITION"

    async def wakes_on(self, **review):
        """The worker waits; meanwhile the manager reviews. The waiting call comes back with the change at once."""
        seen = (await value(self.worker, "get_work_order", id=self.id))["last_seq"]
        begun = time.monotonic()
        views = []

        async def wait():
            views.append(await value(self.worker, "wait_for_update", id=self.id, since_seq=seen, timeout_s=30))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.sleep(0.3)
            await value(self.manager, "review_work_report", id=self.id, **review)
        seconds = time.monotonic() - begun
        assert views[0]["last_seq"] > seen, "the order has moved on"
        assert 0.3 <= seconds < 5, f"woken by the change, not by the clock ({seconds} s)"
        return views[0]

    async def track_record(self):
        record = await value(self.worker, "get_track_record")
        assert await value(self.manager, "get_track_record", agent=WORKER) == record
        expected = {
            "orders": 1,
            "approved": 1,
            "approved_first_time": 0,
            "reworks": 1,
            "reports": 3,
            "blocked": 1,
            "spent": {"usd": 0.5, "tool_calls": 2},
            "budget": {"usd": 1, "tool_calls": 10},
        }
        assert {name: record.get(name) for name in expected} == expected, record
        assert (await value(self.manager, "get_track_record", agent="agent:nobody"))["orders"] == 0

    def second(self, **changes):
        return {
            "to": WORKER,
            "goal": "A second job",
            "criteria": [{"id": "c", "text": "Done"}],
            "budget": {"usd": 1},
            "deadline": in_an_hour(),
            "tools": [],
            **changes,
        }

    async def nobody_acts_for_another(self):
        second = (await value(self.manager, "create_work_order", **self.second(actor=MANAGER)))["id"]
        assert await code(self.worker, "create_work_order", **self.second(actor=MANAGER)) == "FORBIDDEN"
        assert await code(self.manager, "accept_work_order", id=second, actor=WORKER) == "FORBIDDEN"
        assert (await value(self.worker, "decline_work_order", id=second, reason="busy"))["state"] == "declined"

    async def malformed_calls(self):
        criterion = {"id": "c", "text": "Done", "weight": 2}
        for tool, arguments in (
            ("get_work_order", {}),
            ("get_work_order", {"id": 7}),
            ("get_work_order", {"id": self.id, "verbose": True}),
            ("list_work_orders", {"state": "lost"}),
            ("report_progress", {"id": self.id, "note": "x", "percent": "half"}),
            ("wait_for_update", {"id": self.id, "since_seq": -1}),
            ("wait_for_update", {"id": self.id, "since_seq": 0, "timeout_s": 3600}),
            ("create_work_order", self.second(criteria=[criterion])),
            ("create_work_order", self.second(budget={"euros": 1})),
            ("no_such_tool", {}),
        ):
            assert await is_refused(self.manager, tool, arguments), f"{tool} {arguments} is refused"
        await self.still_answers()

    async def huge_argument(self):
        goal = "x" * (6 * 1024 * 1024)
        assert await is_refused(self.manager, "create_work_order", self.second(goal=goal)), "six megabytes are refused"
        await self.still_answers()

    async def still_answers(self):
        assert (await value(self.manager, "get_work_order", id=self.id))["state"] == "approved"
        assert len(await value(self.manager, "list_work_orders")) == 2, "nothing was created"


def in_an_hour():
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).isoformat()


async def value(client, tool, **arguments):
    """The result of a call that goes well: the value in the text, which the structured content repeats."""
    result = await client.call_tool(tool, arguments)
    parsed = only_text(tool, result)
    assert not result.is_error, f"{tool}: {parsed}"
    expected = {"orders": parsed} if tool == "list_work_orders" else parsed
    assert result.structured_content == expected, f"{tool}: structured content and text agree"
    return parsed


async def refusal(client, tool, **arguments):
    """The error object of a call that the desk refuses."""
    result = await client.call_tool(tool, arguments)
    parsed = only_text(tool, result)
    assert result.is_error, f"{tool} is refused, but gave {parsed}"
    assert isinstance(parsed["message"], str)
    return parsed


async def code(client, tool, **arguments):
    return (await refusal(client, tool, **arguments))["code"]


async def is_refused(client, tool, arguments):
    """A malformed call may be refused by the protocol or by the tool; a client that gave up waiting was not refused."""
    try:
        return (await client.call_tool(tool, arguments, read_timeout_seconds=30)).is_error
    except MCPError as error:
        assert "timed out" not in str(error).lower(), f"{tool} is answered"
        return True


def only_text(tool, result):
    assert [item.type for item in result.content] == ["text"], f"{tool} gives one text"
    return json.loads(result.content[0].text)


if __name__ == "__main__":
    anyio.run(main)
