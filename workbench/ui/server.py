"""The server: the pages, with the forms for signing in and out. ``streamlit run workbench/ui/server.py``."""

from pathlib import Path

from starlette.middleware import Middleware
from streamlit.starlette import App

from workbench.ui.routes import Guard, routes

app = App(Path(__file__).with_name("app.py"), routes=routes(), middleware=[Middleware(Guard)])
