package mcp

import (
	"context"
	"embed"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

//go:embed prompts
var prompts embed.FS

// addPrompts offers the dialogue that leads to a plan.
func addPrompts(server *sdk.Server) {
	for _, p := range []struct{ name, title, description, argument string }{
		{"plan", "Plan a deployment", "Guides the dialogue from a vague request to a confirmed plan.", "what the user wants, in their own words"},
		{"plan_zh", "规划部署", "从模糊需求到确认后的部署方案的对话。", "用户的原话"},
	} {
		server.AddPrompt(&sdk.Prompt{
			Name: p.name, Title: p.title, Description: p.description,
			Arguments: []*sdk.PromptArgument{{Name: "request", Description: p.argument}},
		}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			data, err := prompts.ReadFile("prompts/" + p.name + ".md")
			text := strings.TrimSpace(string(data))
			if said := r.Params.Arguments["request"]; said != "" {
				text += "\n\n" + said
			}
			return &sdk.GetPromptResult{
				Description: p.description,
				Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
			}, err
		})
	}
}
