"""What the programs in Python ask for, and what they must get."""

from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Literal, Optional, Union
from uuid import UUID

from pydantic import BaseModel, Field, HttpUrl


class Priority(Enum):
    LOW = "low"
    HIGH = "high"


class Person(BaseModel):
    name: str
    email: Optional[str] = None


class Ticket(BaseModel):
    title: str
    priority: Priority
    kind: Literal["bug", "task"]
    labels: list[str]
    estimate: Optional[float]
    reporter: Person
    watchers: list[Person]


TICKET = Ticket(
    title='Früh "am" Morgen',
    priority=Priority.HIGH,
    kind="bug",
    labels=["ui", "login"],
    estimate=2.5,
    reporter=Person(name="Ann"),
    watchers=[Person(name="Bob", email="bob@example.com")],
)


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    kind: Literal["square"]
    side: float


class Tree(BaseModel):
    name: str
    children: list["Tree"]


class Form(BaseModel):
    """With what JSON Schemas of Pydantic have beside the usual."""

    id: UUID
    mail: str = Field(pattern=r"^[^@]+@[^@]+$")
    site: HttpUrl
    at: datetime
    day: date
    price: Decimal
    count: int = Field(gt=0, le=10)
    pair: tuple[str, int]
    scores: dict[str, int]
    shape: Union[Circle, Square] = Field(discriminator="kind")
    tree: Tree


FORM = Form(
    id=UUID("123e4567-e89b-42d3-a456-426614174000"),
    mail="ann@example.com",
    site=HttpUrl("https://example.com/a?b=c"),
    at=datetime(2026, 11, 25, 4, 41, 53, tzinfo=timezone.utc),
    day=date(2026, 11, 25),
    price=Decimal("12.50"),
    count=3,
    pair=("a", 1),
    scores={"a": 1, "b": 2},
    shape=Circle(kind="circle", radius=1.5),
    tree=Tree(name="root", children=[Tree(name="leaf", children=[])]),
)

# Each can do what its name says, and nothing else.
MODELS = ("tools", "json", "text")


def messages(text):
    return [{"role": "user", "content": f"{text} It is urgent."}]
