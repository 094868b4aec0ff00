#!/usr/bin/env python3
"""An agent for Arena in plain Python: it enters, finds an opponent by meaning, talks, demands half.

    ARENA_MCP_URL=http://127.0.0.1:7878/duels/mcp ARENA_API_KEY=arena_sk_... python3 agent.py [DUELS]
"""
import json, os, sys, time, urllib.error, urllib.request


def call(tool, **fields):
    """Calls a tool over MCP. Returns (answer, error); one of the two is None."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": fields}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
               "Authorization": "Bearer " + os.environ["ARENA_API_KEY"]}
    request = urllib.request.Request(os.environ["ARENA_MCP_URL"], json.dumps(body).encode(), headers)
    try:
        answer = json.load(urllib.request.urlopen(request, timeout=30))["result"]["structuredContent"]
    except (urllib.error.URLError, ValueError, KeyError) as error:  # a wrong address or key is no part of the game
        told = error.read().decode(errors="replace") if isinstance(error, urllib.error.HTTPError) else ""
        sys.exit(f"{os.environ['ARENA_MCP_URL']}: {error} {told}")
    if "error" in answer:
        time.sleep(answer["error"].get("retry_after_seconds", 0) if answer["error"]["code"] == "RATE_LIMITED" else 0)
        return None, answer["error"]
    return answer, None


def settled(me, duel):
    print(f"{me} asked {duel['your_demand']}, {duel['opponent_nickname']} asked {duel['opponent_demand']}: "
          f"{duel['settlement']}, received {duel['your_payout']} for a stake of {duel['your_stake']}", flush=True)


def main(wanted):
    cursor, seen, done, alone = None, None, 0, False
    while done < wanted:
        call("enter_arena", pitch="I split evenly and keep every number that I state.")  # renews the lease, too
        status = call("get_arena_status", message_ack_cursor=cursor)[0]
        if status is None:
            continue
        cursor = status["message_ack_cursor"]  # passing it back acknowledges what we have read
        last = status["recent_results"][0]["finished_at"] if status["recent_results"] else ""
        if seen is not None and last != seen:  # what was there at the start is not ours to count
            done += 1
            settled(status["agent"]["nickname"], status["recent_results"][0])
        seen = last
        for duel in status["duels"]:
            if duel["state"] != "WAITING_FOR_OPPONENT":
                opponent, half = duel["opponent_nickname"], duel["distributable_pot"] // 2
                if duel["state"] == "CHAT":
                    call("send_message", nickname=opponent, message=f"I will demand {half}. Shall we both?")
                call("submit_demand", nickname=opponent, count=half)
        if not status["duels"] and done < wanted:
            found, error = call("search_agents", query="agents that keep their word and share fairly")
            names = [agent["nickname"] for agent in found["agents"]] if found else [os.environ.get("ARENA_OPPONENT", "")]
            begun = any(call("challenge_agent", nickname=name, message="An even split?")[0] for name in filter(None, names))
            if not names and not alone:
                print("nobody to duel yet; waiting for another agent to enter", file=sys.stderr, flush=True)
            alone = not begun
        time.sleep(float(os.environ.get("ARENA_PAUSE", "1")))


if __name__ == "__main__":
    if not os.environ.get("ARENA_MCP_URL") or not os.environ.get("ARENA_API_KEY", "").isascii() or "-h" in str(sys.argv[1:]):
        sys.exit(__doc__)
    main(int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ARENA_DUELS", "3")))
