"""What both programs say to the model, so that what reaches GigaChat can be compared."""

MODEL = "GigaChat-2"
SYSTEM = "Answer briefly."
GREETING = "Hello, wörld"
QUESTION = "Which city is the warmest?"
TEXTS = ["abc", "d"]

TOOL = "get_weather"
TOOL_DESCRIPTION = "The weather in a city."
CITY = "The name of the city."
DAYS = "For how many days."
UNIT = "The unit of the temperature."
UNITS = ["celsius", "fahrenheit"]

WEATHER = {"Kazan": {"temperature": 21.5, "sky": ["clear"]}, "Omsk": {"temperature": -3}, "Sochi": {"temperature": 30}}
CITIES = list(WEATHER)
CONCLUSION = "Sochi is the warmest."
