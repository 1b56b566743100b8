"""What a scripted user answers, given the form's schema: shared by the Python clients."""


def content(answer, schema):
    """`words:TEXT` fills in the text; `pick` takes the first option offered."""
    if answer == "pick":
        choice = schema["properties"]["choice"]
        first = choice["oneOf"][0]["const"] if "oneOf" in choice else choice["enum"][0]
        return {"choice": first}
    words = answer.removeprefix("words:")
    if "choice" in schema["properties"]:
        return {"choice": "none", "clarification": words}
    return {"clarification": words}
