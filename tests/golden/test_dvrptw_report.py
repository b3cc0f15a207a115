"""The page of a comparison: the numbers of `penstock dvrptw eval`, the same bytes every time."""

import html.parser

import pytest

ARGS = ["--policies", "null,myopic-bayes,max", "--episodes", 20, "--days", 5, "--seed", 3, "--set",
        "env.oracle=insertion", "--set", "env.offer=widen"]


class Tables(html.parser.HTMLParser):
    """The texts of all table cells, [table][row][column], and all tags that were left open."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.open, self.cell = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("td", "th"):
            self.tables[-1][-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data


def number(text):
    return 0 if text == "\u2013" else float(text.replace("\u2212", "-").removesuffix(" %"))


@pytest.fixture(scope="module")
def page(penstock, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "page.html"
    done = penstock("dvrptw", "report", "--out", path, *ARGS, "--threads", 1)
    assert "myopic-bayes" in done.stdout and str(path) in done.stdout
    return path


def test_the_table_is_the_evaluation(penstock, page):
    parsed = Tables(page.read_text())
    assert parsed.open == []
    rows = {row[0]: row for row in parsed.tables[0][1:]}
    expected = penstock.json("dvrptw", "eval", *ARGS)["policies"]
    assert list(rows) == [each["policy"] for each in expected] + ["bound"]
    columns = {name: i for i, name in enumerate(parsed.tables[0][0])}

    def cell(policy, column):
        return rows[policy][columns[column]]

    bound = number(cell("bound", "km a served request"))
    for each in expected:
        policy, km = each["policy"], each["km_per_served"]
        assert cell(policy, "km a day") == f"{each['km']['mean']:.2f}"
        assert cell(policy, "km a served request") == f"{km:.3f}"
        assert number(cell(policy, "vehicles")) == pytest.approx(each["vehicles"], abs=0.005001)
        assert number(cell(policy, "driver hours")) == pytest.approx(each["driver_hours"], abs=0.05001)
        assert each["driver_hours"] > each["minutes"] / 60
        assert number(cell(policy, "reward")) == pytest.approx(each["reward"]["mean"], abs=0.005001)
        assert number(cell(policy, "taken")) == pytest.approx(100 * each["acceptance"], abs=0.05001)
        assert number(cell(policy, "min/request")) == pytest.approx(each["shifted_minutes"], abs=0.05001)
        assert number(cell(policy, "not served")) == pytest.approx(100 * each["unserved"], abs=0.005001)
        assert number(cell(policy, "lost")) == pytest.approx(100 * each["lost"], abs=0.005001)
        if policy != "null":
            null = expected[0]["km_per_served"]
            gained, low, _, high = cell(policy, "against null (95 %)").replace("(", "").replace(")", "").split()
            assert number(gained) == pytest.approx(each["difference"]["mean"], abs=0.005001)
            assert [number(low), number(high)] == pytest.approx(each["difference"]["ci95"], abs=0.005001)
            assert number(cell(policy, "saved of these")) == pytest.approx(100 * each["saving_per_served"], abs=0.005001)
            assert number(cell(policy, "of the possible")) == pytest.approx(100 * (null - km) / (null - bound), abs=0.6)
            assert bound < km < null


def test_the_offers_add_up(page):
    rows = Tables(page.read_text()).tables[1]
    assert len(rows) == 1 + 30 + 1
    assert [row[0] for row in rows[1:31]] == [str(i) for i in range(1, 31)]
    assert sorted(int(row[1]) for row in rows[1:31]) == list(range(1, 31))  # everybody calls once
    for column, tolerance in ((5, 0), (8, 0.2), (9, 0.2)):
        total = sum(number(row[column]) for row in rows[1:31])
        assert number(rows[31][column]) == pytest.approx(total, abs=tolerance)
    for row in rows[1:31]:
        asked = row[3] != "as wished"
        assert (row[4] == "not asked") != asked
        assert row[4] in ("taken", "declined", "not asked")
        assert (number(row[5]) > 0) == (row[4] == "taken") and (row[5] == "\u2013") != asked
        assert number(row[7]) <= number(row[6]) and (row[7] == "\u2013") != asked  # a wider window never costs more


def test_the_same_bytes_every_time(penstock, page, tmp_path):
    again = tmp_path / "again.html"
    penstock("dvrptw", "report", "--out", again, *ARGS, "--threads", 2)
    assert again.read_bytes() == page.read_bytes()
    assert "http" not in again.read_text() and "<script" not in again.read_text()
    penstock("dvrptw", "report", "--out", again, *[4 if word == 3 else word for word in ARGS])
    assert again.read_bytes() != page.read_bytes()


def test_a_run_is_reported_on(penstock, tmp_path):
    run, out = tmp_path / "run", tmp_path / "page.html"
    penstock("train", "--recipe", "dvrptw-offer", "--num-envs", 16, "--total-timesteps", 480, "--run-dir", run, "--set",
             "ppo.minibatch=240", "--set", "env.oracle=insertion", "--set", "run.eval_episodes=0", "--threads", 1)
    penstock("dvrptw", "report", run, "--out", out, "--episodes", 12, "--day", 12)
    page = Tables(out.read_text())
    assert [row[0] for row in page.tables[0][1:]] == ["null", "myopic-bayes", "max", "ppo", "bound"]
    assert "Offers of day 12" in out.read_text() and "What ppo proposed" in out.read_text()


def test_driving_times_are_not_told_as_kilometres(penstock, tmp_path):
    nodes = 13  # on a line, two minutes apart, three against the wind
    file, out = tmp_path / "durations.txt", tmp_path / "page.html"
    rows = [" ".join(str(120 * (b - a) if b > a else 180 * (a - b)) for b in range(nodes)) for a in range(nodes)]
    windows = [f"{i + 1} 0 36000" for i in range(nodes)]
    file.write_text("\n".join([f"DIMENSION : {nodes}", "CAPACITY : 99", "EDGE_WEIGHT_TYPE : EXPLICIT", "EDGE_WEIGHT_SECTION",
                               *rows, "TIME_WINDOW_SECTION", *windows]) + "\n")
    args = ["--policies", "null,max", "--episodes", 3, "--set", "env.generator=ortec", "--set", "env.mode=deliver", "--set",
            f"env.file={file}", "--set", "env.customers=12", "--set", "env.vehicles=1", "--set", "env.oracle=rr-50"]
    found = penstock.json("dvrptw", "eval", *args)
    null = found["policies"][0]
    # There and back once.
    assert found["unit"] == "min" and null["min"]["mean"] == null["minutes"] == 12 * 2 + 12 * 3 == -null["reward"]["mean"]
    assert not [key for key in null if "km" in key]
    told = penstock("dvrptw", "report", "--out", out, *args).stdout
    assert "minutes of driving" in told
    page = Tables(out.read_text())
    assert [name for name in page.tables[0][0] if "min a" in name] == ["min a day", "min a served request"]
    assert page.tables[0][1][3] == "60.00" and "null: 60.00 min<" in out.read_text()
    # What is left of kilometres are the prices that were set.
    text = out.read_text().split("</h1>")[1]
    setting, rest = text.split("</p>", 1)
    assert "a km counts as 2.5 minutes" in setting and " km" not in rest and "1 km" not in rest


def test_what_cannot_be_shown_is_told(penstock, tmp_path):
    out = tmp_path / "page.html"
    assert "--out" in penstock("dvrptw", "report", code=2).stderr
    assert "--policies" in penstock("dvrptw", "report", "--out", out, "--show", "ppo", code=2).stderr
    assert "--episodes" in penstock("dvrptw", "report", "--out", out, "--episodes", 3, "--day", 4, code=2).stderr
    assert not out.exists()
