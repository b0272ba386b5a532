"""The page docs/corpus.md and the enumerations agree with the code."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parent.parent / "tools"


def test_questions_have_the_answers_of_the_page() -> None:
    pytest.importorskip("duckdb")
    done = subprocess.run([sys.executable, TOOLS / "questions.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_question_has_an_answer() -> None:
    pytest.importorskip("duckdb")
    sys.path.insert(0, str(TOOLS))
    import questions

    database = questions.connect(None)
    asked = list(questions.QUESTION.finditer(questions.PAGE.read_text()))
    assert len(asked) == 12
    for found in asked:
        assert database.execute(found[2]).fetchall(), found[1]


def test_enumerations_are_up_to_date() -> None:
    import visakit

    sys.path.insert(0, str(TOOLS))
    import enums

    import visakit.enums as made
    from visakit import _visakit

    assert Path(made.__file__).read_text() == enums.page(_visakit.enumerations())
    assert visakit.Op("MAD") is visakit.Op.MAD


def test_examples_of_the_docstrings() -> None:
    import doctest

    import visakit

    tried = doctest.testmod(visakit)
    assert tried.attempted > 8 and tried.failed == 0
