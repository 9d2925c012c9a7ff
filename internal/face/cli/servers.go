package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll"
	"github.com/plimsoll-project/plimsoll/docs"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
	"github.com/plimsoll-project/plimsoll/internal/face/guard"
	serve "github.com/plimsoll-project/plimsoll/internal/face/http"
	"github.com/plimsoll-project/plimsoll/internal/face/mcp"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// rememberedSimulations bounds the cache that searches share: some kilobytes each, at most twice as many.
const rememberedSimulations = 4096

// spare is how many processors of Go a server has beside one for each core. Searches compute on as many as there are cores, so that one
// is free to take a request at once; the system divides the cores. Without it a goroutine waits for its turn behind those of searches, 10
// ms each.
const spare = 2

// serverRunner is the runner of a server, which answers brief requests while searches run.
func (e *Env) serverRunner(folder *os.Root, waiting int) *operation.Runner {
	if e.Cores > 0 {
		runtime.GOMAXPROCS(e.Cores + spare)
	}
	return e.runner(folder, waiting)
}

// runner serves requests of programs. It reads and writes files in the given folder only.
func (e *Env) runner(folder *os.Root, waiting int) *operation.Runner {
	cores := cmp.Or(e.Cores, runtime.GOMAXPROCS(0))
	world := &session.Session{Requests: operation.MaxRequests}
	if dir := plimsoll.HubCache(e.Getenv); dir != "" {
		world.Hub = e.DirFS(dir)
	}
	k := &operation.Env{Session: world, Version: e.programVersion(), Jobs: cores, Bug: e.reportBug}
	if folder == nil { // files may change from one request to the next
		world.Memo = &session.Memo{Size: rememberedSimulations}
	} else {
		files := below(folder)
		world.Open = files.input
		world.Dir = func(name string) fs.FS {
			sub, err := fs.Sub(files, path.Clean(filepath.ToSlash(name)))
			if err != nil {
				return noFiles{}
			}
			return sub
		}
		k.Write = func(under string, files []launch.File) error { return e.writeInto(folder, under, files) }
	}
	return operation.NewRunner(k, operation.Capacity{Searches: max(2, cores), Cores: cores, Brief: 4 * cores, Waiting: waiting})
}

// noFiles is an empty directory.
type noFiles struct{}

// Open finds nothing.
func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// openFolder opens the folder of a flag; nil without one.
func (e *Env) openFolder(flag, name string) (*os.Root, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // no folder is a choice
	}
	root, err := os.OpenRoot(e.path(name))
	if err != nil {
		return nil, usagef("--%s %s: %w", flag, name, cause(err))
	}
	return root, nil
}

// writeInto writes new files below a folder, each as a whole. It replaces none, and follows no link out of the folder.
func (e *Env) writeInto(root *os.Root, under string, files []launch.File) error {
	if !filepath.IsLocal(filepath.FromSlash(under)) {
		return errors.New("the folder must be below that of --dir")
	}
	for _, f := range files {
		name := path.Join(filepath.ToSlash(under), f.Path)
		switch _, err := root.Lstat(name); {
		case err == nil:
			return fmt.Errorf("%s exists", name)
		case !errors.Is(err, fs.ErrNotExist):
			return cause(err)
		}
	}
	d := e.disk()
	d.Sys = disk.Below(root)
	err := d.Merge(filepath.FromSlash(under), contents(files))
	if _, done := errors.AsType[*disk.LeftoverError](err); done {
		return nil
	}
	return err
}

// untilSignal is done when the process is asked to end.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// listen opens an address and prints it to stderr.
func (e *Env) listen(ctx context.Context, flag, addr, at string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, usagef("--%s %s: %w", flag, addr, err)
	}
	e.Note(fmt.Sprintf("listening on http://%s%s", l.Addr(), at))
	return l, nil
}

// mcpFlags are the flags of "plimsoll mcp".
type mcpFlags struct {
	addr, dir string
	tokenFlags
}

// newMCPCmd makes "plimsoll mcp".
func newMCPCmd(env *Env) *cobra.Command {
	f := &mcpFlags{}
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Serve the Model Context Protocol, for agents",
		GroupID: groupServe,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.tokenGiven = cmd.Flags().Changed("token")
			return f.run(cmd, env)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.addr, "http", "", "serve over HTTP on this `address` (default standard input and output)")
	f.define(fs)
	fs.StringVar(&f.dir, "dir", "", "`folder` below which files may be read and written (default none)")
	return cmd
}

// run serves until the client or the user ends it.
func (f *mcpFlags) run(cmd *cobra.Command, env *Env) (err error) {
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	token, err := f.read(env)
	if err != nil && (f.addr != "" || f.tokenGiven) { // a client on standard input needs none
		return err
	}
	g := &guard.Guard{Loopback: guard.Loopback(f.addr), Token: token, Body: mcp.MaxBody}
	if err := f.exposed(g, "http", f.addr, "--token"); err != nil {
		return err
	}
	folder, err := env.openFolder("dir", f.dir)
	if err != nil {
		return err
	}
	if folder != nil {
		defer func() { err = errors.Join(err, folder.Close()) }()
	}
	const waiting = 256 // agents wait rather than try again
	server, err := mcp.New(mcp.Options{Runner: env.serverRunner(folder, waiting), Version: env.programVersion(), Docs: docs.Files, Writes: folder != nil, Now: env.Now})
	if err != nil {
		return err
	}
	if f.addr == "" {
		if err := server.Serve(ctx, env.Stdin, env.Stdout); ctx.Err() == nil {
			return err
		}
		return nil // ended by a signal
	}
	l, err := env.listen(ctx, "http", f.addr, "/mcp")
	if err != nil {
		return err
	}
	return serve.Serve(ctx, l, server.Handler(g), serve.Limits{Read: -1, Write: -1})
}
