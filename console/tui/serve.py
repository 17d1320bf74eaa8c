"""`serve`: the app in a local browser, for `eval-console --serve`.

Serves on 127.0.0.1 only, at a secret URL, so that neither other users of the machine nor other pages in the browser can
control the app. The page loads nothing from other hosts. Requires the extra `serve` (textual-serve).
"""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

from console.config.extras import install_command
from console.config.paths import WorkspacePaths
from console.core.fault import UsageError, reason_of
from console.engine.background import start_task

HOST = "127.0.0.1"
DRIVER = "TEXTUAL_DRIVER"
"""Environment variable that textual-serve sets for the app it starts."""
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>eval-console</title>
<link rel="stylesheet" href="/static/css/xterm.css">
<script src="/static/js/textual.js"></script>
<script src="/%s/focus.js"></script>
<style>
body { background: #15191e; color: #d1d9e0; font-family: monospace; margin: 0; }
.closed-dialog { display: none; padding: 2em; }
body.-closed .closed-dialog { display: block; }
body.-closed .textual-terminal { display: none; }
</style>
</head>
<body>
<div class="dialog-container closed-dialog">The app has ended. Reload this page to open it again.</div>
<div id="terminal" class="textual-terminal" data-session-websocket-url="%s" data-font-size="16"></div>
</body>
</html>
"""
_FOCUS = """\
// Keys go to the app at once, and again whenever the page comes back, without a click into it first.
const focus = () => {
  const terminal = document.querySelector(".xterm-helper-textarea");
  terminal?.focus();
  return terminal !== null;
};
const waiting = new MutationObserver(() => focus() && waiting.disconnect());
waiting.observe(document.documentElement, {childList: true, subtree: true});
window.addEventListener("focus", focus);
"""
_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:"


def is_served() -> bool:
    """Return whether this app was started by textual-serve."""
    return os.environ.get(DRIVER, "").endswith(":WebDriver")


def serve(paths: WorkspacePaths, options: list[str], port: int, report: Callable[[str], object]) -> int:
    """Serve the app until ctrl+c.

    Args:
        paths: where models, data and runs are.
        options: additional options of the app, as on the command line.
        port: port on 127.0.0.1.
        report: called with a message that has the app's address.

    Raises:
        UsageError: the extra is not installed, or the port is taken.
    """
    try:
        server = _server(_command(paths, options), port, report)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the browser needs the package {(error.name or 'textual_serve').replace('_', '-')}",
            hint=f"Install the extra: {install_command('serve')}",
        ) from None
    try:
        server.serve()
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else reason_of(error)  # asyncio adds a phrase of its own
        raise UsageError(f"port {port} of {HOST} cannot be opened: {why}", hint="Choose another with --port.") from None
    return 0


def _command(paths: WorkspacePaths, options: list[str]) -> str:
    named = (("--models", paths.models), ("--data", paths.data), ("--runs", paths.runs))
    arguments = [part for name, path in named if path is not None for part in (name, str(path.absolute()))]
    import shlex

    return shlex.join([sys.executable, "-m", "console", *arguments, *options])


def _server(command: str, port: int, report: Callable[[str], object]) -> Any:
    import secrets  # imported late: every start imports this module

    from textual_serve.server import Server, web  # its web framework; the app itself uses no HTTP

    class Loopback(Server):
        """Serves one page and one socket, both at a secret URL."""

        secret = secrets.token_urlsafe(18)

        def initialize_logging(self) -> None:
            """Disable logging, because the socket's traffic is private."""

        async def on_startup(self, app: Any) -> None:
            """Schedule the report of the address for when the server accepts connections."""
            self._announcing = start_task(self._announce(), "announcement")

        async def _announce(self) -> None:
            await _reachable(port)
            report(f"eval-console is at {self.public_url}/{self.secret}   ctrl+c ends it")

        async def _make_app(self) -> Any:
            app = web.Application()
            app.add_routes(
                [
                    web.get(f"/{self.secret}", self.handle_index),
                    web.get(f"/{self.secret}/focus.js", self.handle_focus),
                    web.get(f"/{self.secret}/ws", self.handle_websocket),
                    web.static("/static", self.statics_path),
                ]
            )
            app.on_startup.append(self.on_startup)
            return app

        async def handle_index(self, request: Any) -> Any:
            address = f"ws://{HOST}:{port}/{self.secret}/ws"
            headers = {"Content-Security-Policy": f"{_POLICY}; connect-src ws://{HOST}:{port}",
                       "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}  # fmt: skip
            return web.Response(text=_PAGE % (self.secret, address), content_type="text/html", headers=headers)

        async def handle_focus(self, request: Any) -> Any:
            """Serve the script that keeps the keyboard focus on the app."""
            return web.Response(text=_FOCUS, content_type="text/javascript", headers={"Cache-Control": "no-store"})

        async def handle_websocket(self, request: Any) -> Any:
            """Reject pages of other origins; browsers always send the origin."""
            if request.headers.get("Origin", self.public_url) != self.public_url:
                raise web.HTTPForbidden(text="another page must not control the app")
            return await super().handle_websocket(request)

    return Loopback(command, host=HOST, port=port, title="eval-console")


async def _reachable(port: int) -> None:
    """Wait until the server accepts connections."""
    while True:
        try:
            _, writer = await asyncio.open_connection(HOST, port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return
