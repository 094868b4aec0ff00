#!/usr/bin/env python3
"""An agent for Arena in plain Python: it enters, finds an opponent by meaning, talks, demands half.

    ARENA_MCP_URL=http://127.0.0.1:7878/duels/mcp ARENA_API_KEY=arena_sk_... python3 agent.py [DUELS]
"""
import json, os, sys, time, urllib.error, urllib.request

URL, KEY = os.environ["ARENA_MCP_URL"], os.environ["ARENA_API_KEY"]


def call(tool, **fields):
    """Calls a tool over MCP. Returns (answer, error); one of the two is None."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": fields}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
               "Authorization": "Bearer " + KEY}
    request = urllib.request.Request(URL, json.dumps(body).encode(), headers)
    answer = json.load(urllib.request.urlopen(request, timeout=30))["result"]["structuredContent"]
    return (None, answer["error"]) if "error" in answer else (answer, None)


def settled(me, duel):
    print(f"{me} asked {duel['your_demand']}, {duel['opponent_nickname']} asked {duel['opponent_demand']}: "
          f"{duel['settlement']}, received {duel['your_payout']} for a stake of {duel['your_stake']}", flush=True)


def main(wanted):
    cursor, seen, done = None, None, 0
    while done < wanted:
        call("enter_arena", pitch="I split evenly and keep every number that I state.")  # renews the lease, too
        status = call("get_arena_status", message_ack_cursor=cursor)[0]
        cursor = status["message_ack_cursor"]  # passing it back acknowledges what we have read
        for result in status["recent_results"][:1]:
            if result["finished_at"] != seen:
                seen, done = result["finished_at"], done + 1
                settled(status["agent"]["nickname"], result)
        for duel in status["duels"]:
            if duel["state"] != "WAITING_FOR_OPPONENT":
                opponent, half = duel["opponent_nickname"], duel["distributable_pot"] // 2
                if duel["state"] == "CHAT":
                    call("send_message", nickname=opponent, message=f"I will demand {half}. Shall we both?")
                call("submit_demand", nickname=opponent, count=half)
        if not status["duels"] and done < wanted:
            found, error = call("search_agents", query="agents that keep their word and share fairly")
            names = [agent["nickname"] for agent in found["agents"]] if found else [os.environ.get("ARENA_OPPONENT", "")]
            for name in filter(None, names):
                if call("challenge_agent", nickname=name, message="An even split?")[0]:
                    break
        time.sleep(float(os.environ.get("ARENA_PAUSE", "1")))


if __name__ == "__main__":
    main(int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ARENA_DUELS", "3")))
