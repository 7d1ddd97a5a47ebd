//! Whole conversations with an agent that the service knows from documents alone: English texts, words, limits and steps of its own,
//! tools over REST, MCP and gRPC, several of them for one message, and an answer that the model writes.

use serde_json::json;

use super::{Travel, calls, messages, output, relevant, says, shown, steps};

#[tokio::test]
async fn the_document_says_how_the_agent_begins_helps_and_ends() {
    let travel = Travel::start().await;
    assert_eq!(travel.app.get("/api/status").await.body["problems"], json!([]));
    let begun = travel.app.post("/api/agents/travel/sessions", json!({"variables": {"who": "Ada"}})).await;
    assert_eq!(begun.status, 201, "{begun:?}");
    let help = "I find trips, add up what they cost, and book seats.\nAsk me with what can you do? or :h; leave with bye or that is all.";
    assert_eq!(begun.body["output"], json!(["Hello, Ada!", help]));
    let id = begun.body["session_id"].as_str().unwrap();
    let helped = travel.say(id, "  What CAN you do? ").await;
    assert_eq!((output(&helped, "waiting"), steps(&helped)), (vec![help], vec!["main/help".to_owned()]));
    let long = travel.say(id, &"ä".repeat(101)).await;
    assert_eq!(output(&long, "waiting"), ["101 characters are too many; 100 are enough."]);
    let blank = travel.say(id, " \t\n").await;
    assert_eq!(blank.body, json!({"state": "waiting", "output": [], "steps": []}));
    assert_eq!(messages(&shown(&travel.app, id).await), [""; 0]);
    let ended = travel.say(id, "That is all").await;
    assert_eq!((output(&ended, "ended"), &ended.body["exit_code"]), (vec!["Have a good trip!"], &json!(0)));
    let late = travel.say(id, "x").await;
    late.assert_error(409, "conflict_error", "session_state");
    assert_eq!(late.error().3["state"], "ended");
    assert_eq!(travel.model.seen().len(), 0);
}

#[tokio::test]
async fn tools_are_called_one_after_the_other_until_the_model_answers_from_their_results() {
    let travel = Travel::start().await;
    let id = super::started(&travel.app, "travel", json!({"variables": {"who": "Ada"}})).await;
    travel.model_says([
        relevant(true),
        calls("find_trips", &json!({"city": " Oslo "})),
        calls("add_up", &json!({"a": 120, "b": 80})),
        says("nothing more"),
        says(" A trip to Oslo with a hotel costs 200 EUR. "),
    ]);
    let answer = travel.say(&id, "To Oslo, with a hotel for 80").await;
    let told = [
        "Is it about a journey?",
        r#"Next: find_trips {"city":" Oslo "}"#,
        "Oslo for 120 EUR",
        r#"Next: add_up {"a":120,"b":80}"#,
        "120 + 80 = 200",
        "A trip to Oslo with a hotel costs 200 EUR.",
    ];
    assert_eq!(output(&answer, "waiting"), told);
    let taken = [
        "main/message",
        "cls/relevant",
        "select/selected",
        "valid/ok",
        "exec/done",
        "select/selected",
        "valid/ok",
        "exec/done",
        "select/none",
        "exec/answered",
        "main/restart",
    ];
    assert_eq!(steps(&answer), taken);
    assert_eq!(travel.trips.searches(), [json!({"city": "Oslo", "currency": "EUR"})]);
    assert_eq!(travel.budget.calls(), 1);
    let asked = travel.asked(0);
    assert_eq!((asked.len(), travel.script.left()), (5, 0));
    assert!(asked.iter().all(|body| body["model"] == "traveller-1"), "{asked:?}");
    let offered = asked[1]["tools"].as_array().unwrap();
    let names: Vec<&str> = offered.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!((names, &asked[1]["temperature"]), (vec!["find_trips", "add_up", "book_seats"], &json!(0)));
    // The model sees what was done, and the neighbours of one role as one message.
    let last = asked[4]["messages"].as_array().unwrap();
    let system = last[0]["content"].as_str().unwrap();
    assert!(system.starts_with("Answer Ada in one sentence. Results: [{"), "{system}");
    assert!(
        system.contains(r#""sum": 200"#) && system.contains(r#""arguments": {"city": "Oslo"}"#),
        "{system}"
    );
    let roles: Vec<&str> = last.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant"]);
    assert_eq!(last[2]["content"], [told[1], told[2], told[3]].join("\n"));
    let session = shown(&travel.app, &id).await;
    assert_eq!((&session["step"], &session["agent"]), (&json!(1), &json!("travel")));
    assert_eq!(messages(&session).last().unwrap(), "assistant: A trip to Oslo with a hotel costs 200 EUR.");
}

#[tokio::test]
async fn so_many_tools_are_called_for_one_message_and_no_more() {
    let travel = Travel::start().await;
    let id = travel.started().await;
    let again = || calls("add_up", &json!({"a": 1, "b": 2}));
    travel.model_says([relevant(true), again(), again(), again(), says("Three.")]);
    let answer = travel.say(&id, "Add 1 and 2 for ever").await;
    assert_eq!(output(&answer, "waiting").last(), Some(&"Three."));
    assert_eq!(
        steps(&answer)[10..],
        ["exec/done", "exec/limit", "exec/answered", "main/restart"].map(str::to_owned)[..]
    );
    assert_eq!((travel.budget.calls(), travel.model.seen().len(), travel.script.left()), (3, 5, 0));
    // The next message may have as many again.
    travel.model_says([relevant(true), again(), says("done"), says("One.")]);
    assert_eq!(output(&travel.say(&id, "Once more").await, "waiting").last(), Some(&"One."));
    let results = travel.asked(8)[0]["messages"][0]["content"].as_str().unwrap().matches("sum").count();
    assert_eq!(results, 1, "the model sees the results of this message only");
}

#[tokio::test]
async fn a_call_that_needs_approval_is_approved_changed_or_rejected() {
    let travel = Travel::start().await;
    let id = travel.started().await;
    let wanted = json!({"city": "Rome", "seats": 2});
    let ask = async |text: &str| {
        travel.model_says([relevant(true), calls("book_seats", &wanted)]);
        let asked = travel.say(&id, text).await;
        assert_eq!(output(&asked, "waiting_confirmation").last(), Some(&"Book 2 seats to Rome?"));
        let taken = ["main/message", "cls/relevant", "select/selected", "valid/ok", "valid/confirm"];
        assert_eq!(steps(&asked), taken);
        let session = shown(&travel.app, &id).await;
        assert_eq!(session["pending"], json!({"tool": "book_seats", "arguments": wanted}));
    };
    ask("Two seats to Rome").await;
    // While it waits, only an answer to the question is taken.
    for message in [json!({"text": "yes"}), json!({"text": "bye"}), json!({"text": ""})] {
        let refused = travel.tell(&id, message).await;
        refused.assert_error(409, "conflict_error", "session_state");
        assert_eq!(refused.error().3["state"], "waiting_confirmation");
    }
    travel.model_says([says("done"), says("Booked.")]);
    let booked = travel.tell(&id, json!({"approve": true})).await;
    assert_eq!(output(&booked, "waiting"), ["Booked 2 seats to Rome.", "Booked."]);
    assert_eq!((travel.seats.calls(), shown(&travel.app, &id).await["pending"].clone()), (1, json!(null)));
    ask("Once more").await;
    let rejected = travel.tell(&id, json!({"reject": true})).await;
    assert_eq!((output(&rejected, "waiting"), travel.seats.calls()), (vec!["Nothing was booked."], 1));
    assert_eq!(steps(&rejected), ["valid/rejected", "main/restart"]);
    for message in [json!({"approve": true}), json!({"reject": true}), json!({"arguments": {}})] {
        travel.tell(&id, message).await.assert_error(409, "conflict_error", "session_state");
    }
    ask("And again").await;
    let wrong = travel.tell(&id, json!({"arguments": {"city": "Rome", "seats": 10}})).await;
    assert!(output(&wrong, "waiting")[0].starts_with("That does not work: "), "{wrong:?}");
    assert_eq!(travel.seats.calls(), 1);
    ask("And once again").await;
    travel.model_says([says("done"), says("Changed.")]);
    let changed = travel.tell(&id, json!({"arguments": {"city": "Bonn", "seats": 3}})).await;
    assert_eq!(output(&changed, "waiting"), ["Booked 3 seats to Bonn.", "Changed."]);
    assert_eq!((travel.seats.calls(), travel.script.left()), (2, 0));
}

#[tokio::test]
async fn a_missing_argument_is_asked_for_and_the_chosen_tool_is_kept() {
    let travel = Travel::start().await;
    let id = travel.started().await;
    travel.model_says([relevant(true), calls("find_trips", &json!({"city": null}))]);
    let asked = travel.say(&id, "I want to travel").await;
    assert_eq!(output(&asked, "waiting").last(), Some(&"Which city?"));
    assert_eq!(steps(&asked).last().unwrap(), "valid/missing");
    // Neither help nor a blank line answers the question.
    assert_eq!(travel.say(&id, ":h").await.body["state"], "waiting");
    assert_eq!(travel.say(&id, "  ").await.body["output"], json!([]));
    travel.model_says([says("done"), says("There you are.")]);
    let found = travel.say(&id, " Paris ").await;
    assert_eq!(output(&found, "waiting"), ["Paris for 120 EUR", "There you are."]);
    assert_eq!(steps(&found)[..3], ["main/message", "valid/ok", "exec/done"].map(str::to_owned)[..]);
    assert_eq!(travel.trips.searches(), [json!({"city": "Paris", "currency": "EUR"})]);
    // Too long is no missing value: the user begins anew.
    travel.model_says([relevant(true), calls("find_trips", &json!({"city": "Llanfairpwllgwyngyll"}))]);
    let long = travel.say(&id, "To Wales").await;
    assert_eq!(output(&long, "waiting").last(), Some(&"No city is called that (20 > 12)."));
    assert_eq!(steps(&long)[3..], ["valid/too_long", "main/restart"].map(str::to_owned)[..]);
    assert_eq!((travel.trips.searches().len(), travel.script.left()), (1, 0));
}

#[tokio::test]
async fn what_services_say_becomes_the_texts_of_the_document() {
    let mut travel = Travel::start().await;
    let id = travel.started().await;
    for (city, told) in [
        ("Atlantis", "There are no trips: it is under water."),
        ("Limbo", "travel is sorry: find_trips does not work now."),
        ("Nowhere", "travel is sorry: find_trips does not work now."),
    ] {
        travel.model_says([relevant(true), calls("find_trips", &json!({"city": city}))]);
        assert_eq!(output(&travel.say(&id, city).await, "waiting").last(), Some(&told), "{city}");
    }
    travel.trips.is(json!({"status": "asleep"}));
    travel.model_says([relevant(true), calls("find_trips", &json!({"city": "Oslo"}))]);
    let ill = travel.say(&id, "Oslo").await;
    assert_eq!(output(&ill, "waiting").last(), Some(&"No trips can be found now."));
    assert_eq!((steps(&ill)[4].as_str(), travel.trips.searches().len()), ("exec/health_not_ok", 3));
    travel.budget.stop();
    travel.model_says([relevant(true), calls("add_up", &json!({"a": 1, "b": 1}))]);
    let gone = travel.say(&id, "1 + 1").await;
    assert_eq!(output(&gone, "waiting").last(), Some(&"travel is sorry: add_up does not work now."));
    assert_eq!(steps(&gone)[4..], ["exec/call_failed", "main/restart"].map(str::to_owned)[..]);
    travel.model_says([relevant(true), calls("fly", &json!({}))]);
    assert_eq!(output(&travel.say(&id, "Fly me").await, "waiting").last(), Some(&"I have no tool fly."));
    assert_eq!(travel.script.left(), 0);
}

#[tokio::test]
async fn a_model_that_fails_ends_the_session_as_the_document_says() {
    let travel = Travel::start().await;
    let id = travel.started().await;
    travel.model_says([says("Sure, it is."), says("I would rather talk.")]);
    let none = travel.say(&id, "Hm").await;
    assert_eq!(output(&none, "waiting"), ["Is it about a journey?", "I found nothing to do."]);
    travel.model_says([says("No way.")]);
    let irrelevant = travel.say(&id, "What is the weather?").await;
    assert_eq!(output(&irrelevant, "waiting").last(), Some(&"I only know about journeys."));
    travel.model_says([relevant(true), calls("add_up", &json!([1, 2]))]);
    let unreadable = travel.say(&id, "1 + 2").await;
    assert_eq!(output(&unreadable, "waiting").last(), Some(&"Say that once more, please."));
    assert_eq!(steps(&unreadable)[2..], ["select/parse_error", "main/restart"].map(str::to_owned)[..]);
    // The script is at its end, and the upstream refuses.
    travel.model_says([relevant(true)]);
    let ended = travel.say(&id, "3 + 4").await;
    assert_eq!(output(&ended, "ended").last(), Some(&"My model is away. Come back later."));
    assert_eq!((&ended.body["exit_code"], steps(&ended)[2].as_str()), (&json!(7), "select/llm_error"));
    let session = shown(&travel.app, &id).await;
    assert_eq!((&session["state"], &session["exit_code"]), (&json!("ended"), &json!(7)));
}

#[tokio::test]
async fn the_last_messages_are_sent_joined_where_one_role_speaks_twice() {
    let travel = Travel::start().await;
    let id = travel.started().await;
    for round in 0..5 {
        travel.model_says([relevant(false)]);
        travel.say(&id, &format!("question {round}")).await;
    }
    travel.model_says([relevant(true), says("none")]);
    travel.say(&id, "last").await;
    let sent = travel.asked(6)[0]["messages"].as_array().unwrap().clone();
    let texts: Vec<&str> = sent[1..].iter().map(|message| message["content"].as_str().unwrap()).collect();
    let other = "I only know about journeys.";
    assert_eq!(texts, [other, "question 3", other, "question 4", other, "last"]);
    assert_eq!(messages(&shown(&travel.app, &id).await).len(), 12);
}
