// Package mcp lets agents use Plimsoll through the Model Context Protocol: the operations as
// tools, the documentation and the plans of this server as resources, and the dialogue
// that leads to a plan as prompts.
//
// In: a runner of package operation, and streams or HTTP requests. Out: answers of the
// protocol. It computes nothing. Start at [New].
package mcp
