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
"use strict";(()=>{var s=self;s.importScripts("wasm_exec.js");s.plimsollReady=()=>s.postMessage({ready:!0});s.plimsollProgress=(...n)=>s.postMessage({progress:n});s.onmessage=n=>{let e=n.data;if(e.module){let o=new s.Go;s.plimsollVersion=e.version,WebAssembly.instantiate(e.module,o.importObject).then(t=>o.run(t));return}s.plimsollAsk(e.method,e.path,e.body,(o,t,i)=>s.postMessage({status:o,type:t,data:i},[i.buffer]))};})();
