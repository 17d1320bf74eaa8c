"""Suites in Python as people write them into a folder: a sound one with tools and a simulated user, and faulty ones."""

from pathlib import Path

CITIES = '''\
from console.authoring import Case, Chat, SimpleSuite, call, verdict

PEOPLE = {"Lyon": 522250, "Turin": 841600, "Graz": 302749, "Porto": 248769}


def population(city: str) -> int:
    """How many people live in a city."""
    return PEOPLE[city]


class Cities(SimpleSuite):
    needs_roles = ("user",)

    def cases(self, categories, setting):
        for city, people in PEOPLE.items():
            kind = "large" if people > 400000 else "small"
            yield Case(city.lower(), kind, {"city": city, "people": people}, title=f"How many live in {city}?")

    async def play(self, case, stage, setting):
        city, right = case.data["city"], f"{case.data['people']} people live there."
        chat = Chat(stage, tools=[population], script=[call("population", city=city), right], wrong=["A million."])
        await chat.with_user(f"to know how many people live in {city}", lines=[f"How big is {city}?"])
        print("asked about", city)
        return chat.output

    def score(self, case, output, setting):
        people = case.data["people"]
        return verdict(str(people) in output["text"], expected=people, actual=output["text"])
'''


def write_folder_suite(
    root: Path, name: str = "cities", code: str = CITIES, toml: str = 'module = "suite.py"\n'
) -> Path:
    """Write a folder of a suite with code below `root`, and return it."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text(toml)
    (folder / "suite.py").write_text(code)
    return folder


def replaced(part: str, body: str) -> str:
    """Return the sound suite with another body for one of its parts."""
    head = {
        "cases": "    def cases(self, categories, setting):\n",
        "play": "    async def play(self, case, stage, setting):\n",
        "score": "    def score(self, case, output, setting):\n",
    }
    before, after = CITIES.split(head[part])
    rest = after.split("\n\n", 1)
    return f"{before}{head[part]}        {body}\n\n{rest[1] if len(rest) > 1 else ''}"
