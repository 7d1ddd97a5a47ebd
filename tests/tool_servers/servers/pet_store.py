"""A FastAPI service: parameters of all places, JSON and form bodies, models inside of models."""

import sys
from enum import Enum
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Form, Header, HTTPException, Query
from pydantic import BaseModel, Field


class Kind(str, Enum):
    cat = "cat"
    dog = "dog"


class Owner(BaseModel):
    name: str
    email: str | None = None


class Pet(BaseModel):
    name: str = Field(description="What it is called", min_length=1)
    kind: Kind = Kind.cat
    tags: list[str] = []
    owner: Owner | None = None


app = FastAPI(title="Pet store")
pets = {1: Pet(name="Mia", tags=["shy", "old"], owner=Owner(name="Ann"))}


@app.get("/pets/{pet_id}", operation_id="get_pet")
def get_pet(pet_id: int, accept_language: Annotated[str | None, Header()] = None):
    """One pet"""
    if pet_id not in pets:
        raise HTTPException(404, "no such pet")
    return {**pets[pet_id].model_dump(), "language": accept_language}


@app.get("/pets", operation_id="list_pets")
def list_pets(tag: Annotated[list[str], Query()] = [], limit: int = 10):
    """The names of pets that have all tags"""
    return [pet.name for pet in pets.values() if set(tag) <= set(pet.tags)][:limit]


@app.post("/pets", operation_id="add_pet")
def add_pet(pet: Pet):
    """Adds a pet"""
    pets[len(pets) + 1] = pet
    return {"id": len(pets), **pet.model_dump()}


@app.post("/login", operation_id="login")
def login(user: Annotated[str, Form()], remember: Annotated[bool, Form()] = False):
    return f"{user} {remember}"


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
