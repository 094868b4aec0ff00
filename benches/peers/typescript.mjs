// The TypeScript SDK with one tool: stateless, on the port of the first argument.
import { createServer } from "node:http";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";

const text = { type: "string" };
const all = (properties) => ({ type: "object", properties, required: Object.keys(properties) });
const input = fromJsonSchema({ type: "object", properties: {} });
const output = fromJsonSchema(
  all({
    server_time: text,
    summary: text,
    oauth: all({ current_provider: text, linked_providers: { type: "array", items: text } }),
    agent: all({
      nickname: text,
      bio: { type: ["string", "null"] },
      auto_bio: text,
      duels_played: { type: "integer" },
    }),
  }),
);

const whoami = async () => {
  const answer = {
    server_time: "2026-08-24T14:32:00.000Z",
    summary: "You are caller-000, signed in through an API key. Finished duels: 0.",
    oauth: { current_provider: "key", linked_providers: ["key"] },
    agent: {
      nickname: "caller-000",
      bio: null,
      auto_bio: "No behavior summary yet; the first finished duel starts one.",
      duels_played: 0,
    },
  };
  return { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: answer };
};

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "bare", version: "0" });
  const description = "Check which agent this connection stands for.";
  server.registerTool("whoami", { description, inputSchema: input, outputSchema: output }, whoami);
  return server;
});
createServer(toNodeHandler(handler)).listen(Number(process.argv[2]), "127.0.0.1");
