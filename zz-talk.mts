import { readFileSync } from 'node:fs'
import { WebSocket } from 'ws'
import { FrameResampler } from './audio/frame-resampler.ts'

const key = readFileSync('/tmp/leadrun/d/local.key', 'utf8').trim()
const wav = process.argv[2]
const r = await fetch('http://127.0.0.1:18080/v1/sessions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' },
  body: JSON.stringify({
    intent: { language: 'en' },
    firstMessage: 'Hello, how can I help you?',
    systemPrompt: 'You are nice.',
    ttsOptions: { sampleRate: 16000 },
  }),
})
const s = await r.json()
console.log(r.status, s.sessionId, s.transportUrl)
const ws = new WebSocket(s.transportUrl, ['service.session.v1', 'service.ephemeral.' + s.transportToken])
const t0 = performance.now()
let bytes = 0
ws.on('message', (d, bin) => {
  if (bin) {
    bytes += (d as Buffer).length
    return
  }
  const m = JSON.parse(String(d))
  if (m.type === 'mark') {
    setTimeout(() => ws.send(JSON.stringify({ type: 'played', mark: m.name })), 300)
    return
  }
  if (m.type === 'clear') {
    console.log('clear')
    ws.send(JSON.stringify({ type: 'played', mark: null, playedMs: 0, cleared: true }))
    return
  }
  console.log((performance.now() - t0).toFixed(0), String(d).slice(0, 300))
})
ws.on('close', (c, x) => {
  console.log('close', c, String(x))
  process.exit()
})
ws.on('unexpected-response', (q, res) => {
  console.log(res.statusCode)
  res.on('data', (d) => console.log(String(d)))
})
await new Promise((r) => ws.on('open', r))
const buf = readFileSync(wav)
const rate = buf.readUInt32LE(24)
const pcm0 = new Int16Array(buf.buffer.slice(buf.byteOffset + 44))
const pcm = Int16Array.from(new FrameResampler(rate, 16000).convert(pcm0))
console.log('wav', rate, pcm.length / 16000)
await new Promise((r) => setTimeout(r, 4000))
let at = 0
const sil = Buffer.alloc(640)
const iv = setInterval(() => {
  const f = pcm.subarray(at, at + 320)
  at += 320
  ws.send(f.length === 320 ? Buffer.from(f.buffer, f.byteOffset, 640) : sil)
}, 20)
setTimeout(() => ws.send('{"type":"end"}'), 20000)
