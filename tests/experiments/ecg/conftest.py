from __future__ import annotations

import pytest

from tests.experiments.ecg.small_recordings import LAYOUTS, write_recordings


@pytest.fixture(scope="module", params=LAYOUTS)
def folder(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("ecg")
    write_recordings(path, request.param)
    return path
