/* Charts by uPlot 1.6.32.
The MIT License (MIT)

Copyright (c) 2022 Leon Sorokin

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE. */
"use strict";(()=>{var c=window.fetch.bind(window),w=document.querySelector("meta[name=plimsoll-version]")?.content??"",g=b(),r=[],i,a=!1,s,h=0,m=0;window.fetch=(n,e)=>typeof n=="string"&&n.startsWith("api/")?y(n,e):c(n,e);window.addEventListener("plimsoll-cancel",()=>{s&&p(s,new Error("cancelled"))});!location.search&&!location.hash&&history.replaceState(null,"","?model=Qwen/Qwen3-8B&system=h200_sxm&gpus=2&isl=512&osl=64&ttft=1000&tpot=20&engine=vllm&mode=agg");f();async function b(){let n=await c("engine.bin");if(!n.ok)throw new Error(`the engine is missing: ${n.status}`);let e=await n.arrayBuffer(),t=new Uint8Array(e,0,2);if(t[0]!==31||t[1]!==139)return WebAssembly.compile(e);let o=new Blob([e]).stream().pipeThrough(new DecompressionStream("gzip"));return WebAssembly.compileStreaming(new Response(o,{headers:{"Content-Type":"application/wasm"}}))}function f(){a=!1;let n=i=new Worker("worker.js");n.onmessage=e=>{if(n!==i)return;if(e.data.ready){a=!0,d();return}if(e.data.progress){v(...e.data.progress);return}let t=s;s=void 0,l(null),t?.resolve(new Response(e.data.data,{status:e.data.status,headers:{"Content-Type":e.data.type}})),d()},g.then(e=>n.postMessage({module:e,version:w}),e=>{for(let t of r.splice(0))t.reject(e)})}function y(n,e){return n.startsWith("api/jobs/")?Promise.resolve(new Response("",{status:404})):new Promise((t,o)=>{let u={id:h++,method:e?.method??"GET",path:"/"+n,body:typeof e?.body=="string"?e.body:"",resolve:t,reject:o};e?.signal?.addEventListener("abort",()=>p(u,new DOMException("left","AbortError"))),r.push(u),d()})}function d(){!a||s||!r.length||(s=r.shift(),m=performance.now(),i.postMessage({method:s.method,path:s.path,body:s.body}))}function p(n,e){let t=r.indexOf(n);t>=0&&r.splice(t,1),n.reject(e),n===s&&(s=void 0,l(null),i.terminate(),f())}function v(n,e,t,o){performance.now()-m>1500&&l({id:"",state:"running",progress:{task:n,done:e,of:t,what:o},partial:!1,left:[]})}function l(n){window.dispatchEvent(new CustomEvent("plimsoll-status",{detail:n}))}})();
