package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// plane is a running control plane: etcd, API server, controllers and scheduler, on loopback.
type plane struct {
	*api
	dir       string
	authority *authority
	running   []*exec.Cmd
	gone      chan error // a program that ended by itself
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
}

func newAuthority(dir string) (*authority, error) {
	a := &authority{dir: dir, cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cluster"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}}
	_, err := a.sign("ca", a.cert)
	return a, err
}

// issue writes NAME.crt and NAME.key of a user, or server on loopback, and the groups it belongs to.
func (a *authority) issue(file, user string, groups ...string) (tls.Certificate, error) {
	return a.sign(file, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: user, Organization: groups},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
}

func (a *authority) sign(file string, cert *x509.Certificate) (tls.Certificate, error) {
	var none tls.Certificate
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, err
	}
	if a.key == nil {
		a.key = key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return none, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return none, err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})
	path := filepath.Join(a.dir, file)
	if err := errors.Join(os.WriteFile(path+".crt", certPEM, 0o600), os.WriteFile(path+".key", keyPEM, 0o600)); err != nil {
		return none, err
	}
	return tls.X509KeyPair(certPEM, keyPEM)
}

// freePorts are n ports of loopback that nothing listens on.
func freePorts(n int) ([]string, error) {
	var ports []string
	var open []net.Listener
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
		open, ports = append(open, l), append(ports, port)
	}
	for _, l := range open {
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	return ports, nil
}

// start brings a control plane up in dir. The caller ends it with stop, also after an error.
func start(ctx context.Context, c *cache, dir string) (*plane, error) {
	p := &plane{dir: dir, gone: make(chan error, 16)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return p, err
	}
	var err error
	if p.authority, err = newAuthority(dir); err != nil {
		return p, err
	}
	admin, err := p.authority.issue("admin", "admin", "system:masters")
	if err != nil {
		return p, err
	}
	for file, user := range map[string]string{"server": "kube-apiserver", "accounts": "accounts", "proxy": "front-proxy"} {
		if _, err := p.authority.issue(file, user); err != nil {
			return p, err
		}
	}
	ports, err := freePorts(5)
	if err != nil {
		return p, err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	pool := x509.NewCertPool()
	pool.AddCert(p.authority.cert)
	if pem, err := os.ReadFile(in("ca.crt")); err != nil || !pool.AppendCertsFromPEM(pem) {
		return p, fmt.Errorf("ca.crt: %w", err)
	}
	p.api = newAPI("https://127.0.0.1:"+ports[2], admin, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})
	if err := p.writeKubeconfig(); err != nil {
		return p, err
	}
	if err := os.WriteFile(in("scheduler.yaml"), []byte(fmt.Sprintf(schedulerConfig, in("kubeconfig"))), 0o600); err != nil {
		return p, err
	}

	etcd, kubernetes := &components[0], &components[1]
	client, peer := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	if err := p.run(nil, c.program(etcd, "etcd"), "--data-dir="+in("etcd"), "--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer, "--unsafe-no-fsync"); err != nil {
		return p, err
	}
	if err := p.run(nil, c.program(kubernetes, "kube-apiserver"), "--etcd-servers="+client, "--bind-address=127.0.0.1", "--secure-port="+ports[2], "--advertise-address=192.0.2.1",
		"--tls-cert-file="+in("server.crt"), "--tls-private-key-file="+in("server.key"), "--client-ca-file="+in("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+in("accounts.crt"),
		"--service-account-signing-key-file="+in("accounts.key"), "--service-cluster-ip-range=10.96.0.0/16", "--endpoint-reconciler-type=none",
		"--authorization-mode=RBAC", "--allow-privileged", "--enable-admission-plugins=ExtendedResourceToleration",
		"--disable-admission-plugins=TaintNodesByCondition", // nodes count as ready at once
		"--requestheader-client-ca-file="+in("ca.crt"), "--requestheader-allowed-names=front-proxy", "--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file="+in("proxy.crt"), "--proxy-client-key-file="+in("proxy.key")); err != nil {
		return p, err
	}
	if err := p.wait(ctx, p.url+"/readyz"); err != nil {
		return p, err
	}
	// No kubelet renews leases here, so the controller that counts such nodes as dead stays off. An autoscaler that looks every two
	// seconds, and waits ten before it removes a replica, shows in a minute what takes six.
	if err := p.run(nil, c.program(kubernetes, "kube-controller-manager"), "--kubeconfig="+in("kubeconfig"), "--leader-elect=false",
		"--controllers=*,-node-lifecycle-controller,-taint-eviction-controller", "--use-service-account-credentials=true",
		"--service-account-private-key-file="+in("accounts.key"), "--root-ca-file="+in("ca.crt"), "--bind-address=127.0.0.1", "--secure-port="+ports[3],
		"--horizontal-pod-autoscaler-sync-period=2s", "--horizontal-pod-autoscaler-downscale-stabilization=10s"); err != nil {
		return p, err
	}
	if err := p.run(nil, c.program(kubernetes, "kube-scheduler"), "--config="+in("scheduler.yaml"), "--bind-address=127.0.0.1", "--secure-port="+ports[4]); err != nil {
		return p, err
	}
	return p, p.prepare(ctx)
}

// A cluster of GPUs fills nodes one after the other, else small pods block the nodes that large ones need whole.
const schedulerConfig = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s}
leaderElection: {leaderElect: false}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 2
profiles:
  - schedulerName: default-scheduler
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: MostAllocated
            resources:
              - {name: nvidia.com/gpu, weight: 10}
              - {name: amd.com/gpu, weight: 10}
              - {name: huawei.com/Ascend910, weight: 10}
`

// prepare makes what every namespace needs: a class of volumes, which the stand-in provides.
func (p *plane) prepare(ctx context.Context) error {
	_, err := p.apply(ctx, "", object{
		"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "kubernetes.io/no-provisioner", "allowVolumeExpansion": true,
		"metadata": object{"name": "shared", "annotations": object{"storageclass.kubernetes.io/is-default-class": "true"}},
	})
	return err
}

// writeKubeconfig is for controllers, which act as the administrator.
func (p *plane) writeKubeconfig() error {
	in := func(name string) string { return strconv.Quote(filepath.Join(p.dir, name)) }
	return os.WriteFile(filepath.Join(p.dir, "kubeconfig"), []byte(fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, certificate-authority: %s}}]
users: [{name: admin, user: {client-certificate: %s, client-key: %s}}]
contexts: [{name: c, context: {cluster: c, user: admin}}]
current-context: c
`, p.url, in("ca.crt"), in("admin.crt"), in("admin.key"))), 0o600)
}

// run starts a program; what it prints is in NAME.log.
func (p *plane) run(env []string, program string, args ...string) error {
	log, err := os.Create(filepath.Join(p.dir, filepath.Base(program)+".log"))
	if err != nil {
		return err
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, p.dir
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+filepath.Join(p.dir, "kubeconfig"), "GOGC=200"), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the terminal reaches us alone, and we end them in order
	if err := errors.Join(cmd.Start(), log.Close()); err != nil {
		return err
	}
	p.running = append(p.running, cmd)
	go func() {
		err := cmd.Wait()
		p.gone <- fmt.Errorf("%s ended: %w; see %s", filepath.Base(program), err, log.Name())
	}()
	return nil
}

// wait waits until an address answers with success.
func (p *plane) wait(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := p.http.Do(req)
		if err == nil {
			if err := resp.Body.Close(); err != nil {
				return err
			}
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-p.gone:
			return err
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer", url)
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// stop ends the programs, the last one first.
func (p *plane) stop() error {
	var errs []error
	for i := len(p.running) - 1; i >= 0; i-- {
		if err := p.running[i].Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
