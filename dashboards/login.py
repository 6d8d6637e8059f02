"""The password: asked for once a session, compared in constant time; and who may listen where without one."""

import hmac
import ipaddress
import time

import streamlit as st

from mindmem.core.errors import InvalidInput
from mindmem.core.settings import DashboardSettings

__all__ = ["beyond_loopback", "check_exposure", "passed"]

_PAUSE = 1.0
"""Seconds that a wrong password costs."""


def beyond_loopback(address: str | None) -> bool:
    """Return whether a server at this address can be reached from other machines; no address means all of them.

    >>> [beyond_loopback(address) for address in ("127.0.0.1", "::1", "localhost", "0.0.0.0", None)]
    [False, False, False, True, True]
    """
    if address == "localhost":
        return False
    try:
        return not ipaddress.ip_address((address or "0.0.0.0").strip("[]")).is_loopback
    except ValueError:
        return True


def check_exposure(address: str | None, settings: DashboardSettings) -> None:
    """Refuse to be reached from other machines without a password.

    Raises:
        InvalidInput: the address is not this machine's own, and no password is set.
    """
    if beyond_loopback(address) and not settings.password.get_secret_value():
        raise InvalidInput(
            f"The dashboard would listen on {address or 'all addresses'} for everybody who can reach it: set "
            "MINDMEM_DASHBOARD__PASSWORD, or let it listen on 127.0.0.1.",
            field="address",
        )


def passed(settings: DashboardSettings) -> bool:
    """Return whether this session may see the pages; shows the question for the password where it may not yet."""
    wanted = settings.password.get_secret_value()
    if not wanted or st.session_state.get("mindmem.passed") == _print(wanted):
        return True
    _, middle, _ = st.columns([1, 2, 1])
    with middle, st.form("login", border=True):
        st.markdown("## :material/lock: MindMem")
        given = st.text_input("Password", type="password", autocomplete="current-password")
        if st.form_submit_button("Open", type="primary", width="stretch"):
            if hmac.compare_digest(given.encode(), wanted.encode()):
                st.session_state["mindmem.passed"] = _print(wanted)
                st.rerun()
            time.sleep(_PAUSE)  # guessing must not be cheap
            st.error("That is not the password.", icon=":material/error:")
    return False


def _print(password: str) -> str:
    """Return what a session keeps in the password's place: one that was passed before a change of it asks again."""
    return hmac.new(b"mindmem dashboard", password.encode(), "sha256").hexdigest()
