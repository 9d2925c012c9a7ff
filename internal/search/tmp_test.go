package search_test
import ("testing";"plimsoll/internal/search";"plimsoll/internal/graph";"plimsoll/internal/serving";"fmt")
func eval(t *testing.T,p *search.Problem,r *search.Result, fragile bool) func(int) serving.Outcome {
	spec:=r.Spec; spec.Policy.FragileGrouping=fragile
	d,err:=search.NewDeployment(spec,p.Coster,p.Memory,p.Reserved,p.Images)
	if err!=nil{t.Fatal(err)}
	return func(b int) serving.Outcome{ switch p.Mode{case search.PrefillOnly: return serving.PrefillOnly(d,&r.Load,b); case search.DecodeOnly: return serving.DecodeOnly(d,&r.Load,b)}
	return serving.Aggregated(d,&r.Load,b)}
}
func TestTmp(t *testing.T){
 for _,mod:=range []struct{m,d string;n int}{{"Qwen/Qwen3-30B-A3B","TEST_DEVICE",8},{"deepseek-ai/DeepSeek-V3.1","ATLAS_800_A3_752T_128G_DIE",16},{"Qwen/Qwen3-32B","TEST_DEVICE",8}}{
 for _,mode:=range []search.Mode{search.Aggregated,search.DecodeOnly,search.PrefillOnly}{
  for _,in:=range []int{3500,100,8,20000}{
  p:=ascend(t,mod.m,mod.d,graph.Actions{}); p.Mode=mode
  p.Load.Input,p.Load.Output,p.Load.Budget=in,1500,8192
  if in==20000 {p.Load.Output=100}
  p.Limits=search.Limits{TPOT:ms(50),TTFT:ms(5000)}
  s:=search.Space{TP:[]int{},EP:[]int{},MoEDP:[]int{}}.Resolve(mod.n)
  bad,nomono,notrelax,thr:=0,0,0,0
  worst:=1.0
  for _,r:=range p.Run(s.Enumerate(mod.n,p.Spec.Model.HasExperts()),2,nil){
    if r.Binds==search.IllegalShape {continue}
    ex,rel:=eval(t,&p,&r,true),eval(t,&p,&r,false)
    var best serving.Outcome
    var prev serving.Outcome
    top:=3000
    if in==20000 && mode==search.Aggregated {top=60}
    for b:=1;b<=top;b++{
      o,q:=ex(b),rel(b)
      if o.OOM!=""{break}
      if q.TTFT>o.TTFT*(1+1e-9)||q.TPOT>o.TPOT*(1+1e-9){notrelax++}
      if b>1&&(q.TTFT<prev.TTFT*(1-1e-9)||q.TPOT<prev.TPOT*(1-1e-9)){nomono++}
      if b>1&&(q.Throughput<prev.Throughput*(1-1e-9)){thr++}
      prev=q
      if o.TPOT<=p.Limits.TPOT&&o.TTFT<=p.Limits.TTFT&&o.Throughput>best.Throughput*(1+1e-9){best=o}
      if q.TPOT>2*p.Limits.TPOT||q.TTFT>2*p.Limits.TTFT{break}
    }
    if best.Throughput>r.Best.Throughput*(1+1e-8){bad++; worst=max(worst,best.Throughput/r.Best.Throughput); if bad<3{fmt.Println("BAD",mod.m,mode,in,r.Label,r.OK,r.Best.Batch,r.Best.Throughput,best.Batch,best.Throughput)}}
  }
  fmt.Println("SUM",mod.m,mode,in,"bad",bad,"worst",worst,"nonmono",nomono,"notrelaxed",notrelax,"thrfalls",thr)
 }}}
}
