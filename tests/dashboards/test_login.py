"""Who may see the pages, and where they may be served."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from support.pages import Open, words

from mindmem.core.errors import InvalidInput
from mindmem.core.settings import DashboardSettings, Settings
from mindmem.dashboards import login
from mindmem.dashboards.command import APP, arguments, dashboard

GUARDED = {"password": "correct horse"}


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.2", "example.org", "", None])
def test_beyond_this_machine_a_password_is_needed(address: str | None) -> None:
    with pytest.raises(InvalidInput, match="MINDMEM_DASHBOARD__PASSWORD"):
        login.check_exposure(address, DashboardSettings())
    login.check_exposure(address, DashboardSettings(password="secret"))


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.0.1", "::1", "[::1]", "localhost"])
def test_on_this_machine_none_is_needed(address: str) -> None:
    login.check_exposure(address, DashboardSettings())


def test_the_command_refuses_before_anything_is_served(tmp_path: Path) -> None:
    done = CliRunner().invoke(dashboard, ["--home", str(tmp_path), "--address", "0.0.0.0"])
    assert isinstance(done.exception, InvalidInput)
    assert "opens at" not in done.output


def test_the_command_serves_the_store_it_was_asked_for_and_sends_nobody_figures(tmp_path: Path) -> None:
    settings = Settings.load({}, home=tmp_path, project_id="p q")
    command = arguments(settings, "127.0.0.1", 8600)
    assert command[1:5] == ["-m", "streamlit", "run", str(APP)]
    assert command[command.index("--browser.gatherUsageStats") + 1] == "false"
    assert command[command.index("--server.address") + 1] == "127.0.0.1"
    assert command[command.index("--") :] == ["--", "--home", str(tmp_path), "--project", "p q"]


def test_nothing_is_shown_before_the_password(shown: Open, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "_PAUSE", 0.0)
    app = shown("overview", demo, GUARDED)
    assert [one.label for one in app.button] == ["Open"]
    assert not app.title
    app.text_input[0].set_value("correct horsf")
    app = app.button[0].click().run()
    assert "That is not the password." in app.error[0].value
    assert not app.title
    app.text_input[0].set_value("correct horse")
    app = app.button[0].click().run()
    assert app.title[0].value == "Overview"
    assert "correct horse" not in words(app)
