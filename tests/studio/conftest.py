"""The application, with its worker in this process."""

import pytest

from mercer.studio.server import application
from tests.studio.asgi import TOKEN, DeskWorker


@pytest.fixture(scope="session")
def app(tmp_path_factory):
    return application(TOKEN, DeskWorker(), tmp_path_factory.mktemp("home"))
