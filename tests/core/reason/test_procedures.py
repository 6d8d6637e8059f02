"""What an agent did and learned becomes traces, lessons and procedures."""

from support.extraction import extract, only, said, texts, typed


async def test_a_tools_message_gives_a_trace_with_tool_arguments_and_outcome() -> None:
    extraction = await extract(
        said('search_flights({"from": "OSL", "to": "LIS"})', role="assistant"),
        said('[{"flight": "TP761", "price": 212}]', role="tool", name="search_flights"),
    )
    (trace,) = [c for c in extraction.candidates if c.mem_type == "tool_trace"]
    assert (trace.entity_name, trace.value, trace.flags) == ("search_flights", "succeeded", ())
    assert "OSL" in trace.content
    assert "TP761" in trace.content


async def test_a_structured_call_is_read_too_and_a_failure_is_one() -> None:
    content = '{"tool": "run_tests", "arguments": {"path": "tests/api"}, "result": "Error: database is locked"}'
    trace = only(await extract(said(content, role="tool")))
    assert (trace.mem_type, trace.entity_name) == ("tool_trace", "run_tests")
    assert (trace.value, trace.flags) == ("failed", ("failed",))
    content = '{"tool": "run_tests", "arguments": {}, "result": "12 passed, 0 failed"}'
    passed = only(await extract(said(content, role="tool")))
    assert passed.value == "succeeded"


async def test_a_tools_output_is_never_anybodys_fact() -> None:
    extraction = await extract(said("The capital of France is Paris. My name is Bob.", role="tool", name="read_file"))
    assert typed(extraction) == []
    assert [c.mem_type for c in extraction.candidates] == ["tool_trace"]


async def test_a_failure_followed_by_a_success_is_an_experience() -> None:
    extraction = await extract(
        said("Error: relation users does not exist", role="tool", name="run_tests"),
        said("ok, 41 passed", role="tool", name="run_tests"),
    )
    (lesson,) = [c for c in extraction.candidates if c.mem_type == "experience"]
    assert [source.message_id for source in lesson.sources] == ["m0", "m1"]
    assert "relation users does not exist" in lesson.content
    alone = await extract(said("ok, 41 passed", role="tool", name="run_tests"))
    assert texts(alone, "experience") == []


async def test_lessons_are_experiences_and_plans_are_not() -> None:
    assert texts(await extract("Next time run the migration before the tests."), "experience") == [
        "Next time run the migration before the tests."
    ]
    fix = "The fix was to pin numpy below 2."
    assert texts(await extract(fix), "experience") == [fix]
    assert texts(await extract("下次一定要先备份数据库。"), "experience") == ["下次一定要先备份数据库。"]
    assert texts(await extract("Next time we meet, bring the photos from Lisbon."), "experience") == []


async def test_steps_to_a_goal_are_a_skill_candidate() -> None:
    text = "To deploy the site: 1) build the image 2) push it to the registry 3) restart the service"
    skill = only(await extract(text))
    assert (skill.mem_type, skill.value, skill.content) == ("skill_candidate", "deploy the site", text)
    chinese = only(await extract("发布的步骤：1. 打包镜像 2. 推送仓库 3. 重启服务"))
    assert chinese.mem_type == "skill_candidate"
    wish = await extract("To be honest, I ate 2 cakes.")
    assert texts(wish, "skill_candidate") == []


async def test_advice_in_steps_by_a_chatting_assistant_is_no_skill_of_the_agents() -> None:
    advice = "To relax: 1) breathe slowly 2) stretch your neck"
    assert texts(await extract(said(advice, role="assistant")), "skill_candidate") == []
    agent = await extract(said("done", role="tool", name="shell"), said(advice, role="assistant"))
    assert texts(agent, "skill_candidate") == [advice]
