package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/docs"
	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	serve "github.com/plimsoll-project/plimsoll/internal/face/http"
	"github.com/plimsoll-project/plimsoll/internal/face/mcp"
)

// mcpFlags are the flags of "plimsoll mcp".
type mcpFlags struct {
	addr, token, dir string
}

// tokenVariable is the environment variable with the token.
const tokenVariable = "PLIMSOLL_TOKEN"

// newMCPCmd makes "plimsoll mcp".
func newMCPCmd(env *Env) *cobra.Command {
	f := &mcpFlags{}
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Serve the Model Context Protocol, for agents",
		GroupID: groupServe,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd, env) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.addr, "http", "", "serve over HTTP on this `address` (default standard input and output)")
	fs.StringVar(&f.token, "token", "", "`token` that clients must send (default "+tokenVariable+")")
	fs.StringVar(&f.dir, "dir", "", "`folder` below which files may be read and written (default none)")
	return cmd
}

// run serves until the client or the user ends it.
func (f *mcpFlags) run(cmd *cobra.Command, env *Env) (err error) {
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	folder, err := env.openFolder("dir", f.dir)
	if err != nil {
		return err
	}
	if folder != nil {
		defer func() { err = errors.Join(err, folder.Close()) }()
	}
	const waiting = 256 // agents wait rather than try again
	server, err := mcp.New(mcp.Options{Desk: env.desk(folder, waiting), Version: programVersion(), Docs: docs.Files, Writes: folder != nil})
	if err != nil {
		return err
	}
	if f.addr == "" {
		if err := server.Serve(ctx, env.Stdin, env.Stdout); ctx.Err() == nil {
			return err
		}
		return nil // ended by a signal
	}
	if f.token == "" {
		f.token = env.Getenv(tokenVariable)
	}
	g := &guard.Guard{Loopback: guard.Loopback(f.addr), Token: f.token, Body: mcp.MaxBody}
	if !g.Loopback && g.Token == "" {
		return withHint(usagef("--http %s is reachable from other hosts and needs a token", f.addr), "set --token, or use a 127.0.0.1 address")
	}
	l, err := env.listen(ctx, "http", f.addr, "/mcp")
	if err != nil {
		return err
	}
	return serve.Serve(ctx, l, server.Handler(g), serve.Streams())
}
