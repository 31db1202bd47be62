//go:build !windows

package harnesses_test

import (
	"fmt"
)

// program is one harness: how to start it, and how it talks to a model.
type program struct {
	name string
	// args start it on its task, and vars are additional environment variables. The model is at url.
	args []string
	vars func(url string) []string
	// settings are the user's own: a file in the home, and its content.
	settings func(d *desk, url string) (file, text string)
	// trusted tells it to run the repository's hooks, and untrusted starts it without them; nil if it always runs them.
	trusted, untrusted *trust

	// path is part of the path of requests to a model, and conversation the field of the request with the conversation so far.
	path, conversation string
	// answer is a step in the protocol, for the n-th answer.
	answer func(n int, s step) []event
	// shell and edit are calls of its tools.
	shell func(line string) []call
	edit  func(file, from, to string) []call
}

// trust is the additional arguments and variables to start a program with.
type trust struct{ args, vars []string }

// task is the user's request. The models do not read it.
const task = "Do the work."

// object is an object of JSON.
type object = map[string]any

// programs are those available from npm. Each is started as its documentation says for a run without a person.
var programs = []*program{claude, codex, copilot, gemini}

// claude asks nobody for trust if no person is present.
var claude = &program{
	name:    "claude",
	trusted: &trust{},
	args:    []string{"-p", task, "--model", "claude-sonnet-4-5", "--allowedTools", "Bash Edit Read"},
	vars: func(url string) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-ant-none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		}
	},

	path: "/v1/messages", conversation: "messages",
	answer: func(n int, s step) []event {
		var out []event
		add := func(kind string, fields object) {
			fields["type"] = kind
			out = append(out, event{kind, fields})
		}
		add("message_start", object{"message": object{
			"id": fmt.Sprint("msg_", n), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{},
			"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1},
		}})
		block := func(i int, start, delta object) {
			add("content_block_start", object{"index": i, "content_block": start})
			add("content_block_delta", object{"index": i, "delta": delta})
			add("content_block_stop", object{"index": i})
		}
		for i, c := range s.calls {
			block(i, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": c.tool, "input": object{}},
				object{"type": "input_json_delta", "partial_json": string(marshal(c.input))})
		}
		reason := "tool_use"
		if len(s.calls) == 0 {
			block(0, object{"type": "text", "text": ""}, object{"type": "text_delta", "text": s.words})
			reason = "end_turn"
		}
		add("message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 1}})
		add("message_stop", object{})
		return out
	},
	shell: func(line string) []call {
		return []call{{"Bash", object{"command": line, "description": "work"}}}
	},
	edit: func(file, from, to string) []call { // it may edit only what it has read
		return []call{
			{"Read", object{"file_path": file}},
			{"Edit", object{"file_path": file, "old_string": from, "new_string": to}},
		}
	},
}

// codex is told to trust hooks that nobody has reviewed: a review needs a person at the screen.
var codex = &program{
	name:      "codex",
	args:      []string{"exec", "--sandbox", "danger-full-access", task},
	vars:      func(string) []string { return []string{"MODEL_KEY=none"} },
	trusted:   &trust{args: []string{"--dangerously-bypass-hook-trust"}},
	untrusted: &trust{},
	settings: func(d *desk, url string) (file, text string) {
		return ".codex/config.toml", fmt.Sprintf(`model = "gpt-5.5"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = %q
wire_api = "responses"
env_key = "MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects.%q]
trust_level = "trusted"
`, url+"/v1", d.Dir)
	},

	path: "/v1/responses", conversation: "input",
	answer: func(n int, s step) []event {
		id := fmt.Sprint("resp_", n)
		out := []event{{"response.created", object{"type": "response.created", "response": object{"id": id}}}}
		item := func(i int, fields object) {
			for _, kind := range []string{"response.output_item.added", "response.output_item.done"} {
				out = append(out, event{kind, object{"type": kind, "output_index": i, "item": fields}})
			}
		}
		for i, c := range s.calls {
			fields := object{"id": fmt.Sprintf("fc_%d_%d", n, i), "call_id": fmt.Sprintf("call_%d_%d", n, i), "name": c.tool}
			if patch, is := c.input["patch"]; is {
				fields["type"], fields["input"] = "custom_tool_call", patch
			} else {
				fields["type"], fields["arguments"] = "function_call", string(marshal(c.input))
			}
			item(i, fields)
		}
		if len(s.calls) == 0 {
			item(0, object{
				"type": "message", "role": "assistant", "id": fmt.Sprint("msg_", n),
				"content": []object{{"type": "output_text", "text": s.words}},
			})
		}
		usage := object{"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2}
		return append(out, event{"response.completed", object{"type": "response.completed", "response": object{"id": id, "usage": usage}}})
	},
	shell: func(line string) []call { return []call{{"exec_command", object{"cmd": line}}} },
	edit: func(file, from, to string) []call {
		return []call{{"apply_patch", object{"patch": patch(file, from, to)}}}
	},
}

// patch replaces a line in the form of apply_patch.
func patch(file, from, to string) string {
	return "*** Begin Patch\n*** Update File: " + file + "\n@@\n-" + from + "\n+" + to + "\n*** End Patch\n"
}

var copilot = &program{
	name: "copilot",
	args: []string{"-p", task, "--allow-all-tools"},
	vars: func(url string) []string {
		return []string{
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_MODEL=fake", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1",
			"COPILOT_PKG_CACHE_HOME=" + unpacked(),
		}
	},
	trusted:   &trust{args: []string{"--trust-folder"}},
	untrusted: &trust{},

	path: "/v1/chat/completions", conversation: "messages",
	answer: func(n int, s step) []event {
		var calls []object
		for i, c := range s.calls {
			calls = append(calls, object{
				"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function",
				"function": object{"name": c.tool, "arguments": string(marshal(c.input))},
			})
		}
		delta, reason := object{"role": "assistant", "content": nil, "tool_calls": calls}, "tool_calls"
		if len(calls) == 0 {
			delta, reason = object{"role": "assistant", "content": s.words}, "stop"
		}
		chunk := func(fields object) event {
			fields["id"], fields["object"], fields["created"], fields["model"] = fmt.Sprint("chatcmpl-", n), "chat.completion.chunk", 1, "fake"
			return event{data: fields}
		}
		return []event{
			chunk(object{"choices": []object{{"index": 0, "delta": delta, "finish_reason": nil}}}),
			chunk(object{"choices": []object{{"index": 0, "delta": object{}, "finish_reason": reason}}}),
			chunk(object{"choices": []object{}, "usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}),
			{data: done},
		}
	},
	shell: func(line string) []call {
		return []call{{"bash", object{"command": line, "description": "work"}}}
	},
	edit: func(file, from, to string) []call {
		return []call{{"edit", object{"path": file, "old_str": from, "new_str": to}}}
	},
}

var gemini = &program{
	name: "gemini",
	args: []string{"-m", "gemini-2.5-pro", "-y", "-p", task},
	vars: func(url string) []string {
		return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_TELEMETRY_ENABLED=false"}
	},
	settings: func(*desk, string) (file, text string) {
		return ".gemini/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false}}`
	},
	trusted:   &trust{vars: []string{"GEMINI_CLI_TRUST_WORKSPACE=true"}},
	untrusted: &trust{args: []string{"--skip-trust"}},

	path: ":streamGenerateContent", conversation: "contents",
	answer: func(_ int, s step) []event {
		var parts []object
		for _, c := range s.calls {
			parts = append(parts, object{"functionCall": object{"name": c.tool, "args": c.input}})
		}
		if len(parts) == 0 {
			parts = []object{{"text": s.words}}
		}
		return []event{{data: object{
			"candidates":    []object{{"index": 0, "content": object{"role": "model", "parts": parts}, "finishReason": "STOP"}},
			"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
			"modelVersion":  "gemini-2.5-pro",
		}}}
	},
	shell: func(line string) []call {
		return []call{{"run_shell_command", object{"command": line, "description": "work"}}}
	},
	edit: func(file, from, to string) []call {
		return []call{{"replace", object{"file_path": file, "old_string": from, "new_string": to, "instruction": "Say it better."}}}
	},
}
