// The floor's and the gateway's upstream: answers a chat completion at once, as JSON or as events. Forked by bench/main.ts.
import uWS from 'uWebSockets.js'

const content = 'All lines are open. '.repeat(90)
const usage = { prompt_tokens: 400, completion_tokens: 360, total_tokens: 760 }
const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'mock',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage,
})
const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'mock', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const head = chunk({ role: 'assistant', content: '' }, null) + chunk({ content: 'All ' }, null)
const rest =
  Array.from({ length: 20 }, () => chunk({ content: 'lines ' }, null)).join('') +
  chunk({}, 'stop') +
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'mock', choices: [], usage })}\n\n` +
  'data: [DONE]\n\n'

uWS
  .App()
  .post('/v1/chat/completions', (res) => {
    let body = ''
    let gone = false
    res.onAborted(() => {
      gone = true
    })
    res.onData((part, last) => {
      body += Buffer.from(part).toString('latin1')
      if (!last || gone) return
      if (!body.includes('"stream":true')) {
        res.cork(() => {
          res.writeHeader('Content-Type', 'application/json').end(answer)
        })
        return
      }
      res.cork(() => {
        res.writeHeader('Content-Type', 'text/event-stream')
        res.write(head)
      })
      setTimeout(() => {
        if (!gone) res.cork(() => res.end(rest))
      }, 5)
    })
  })
  .listen('127.0.0.1', 0, (socket) => {
    process.send?.({ port: socket ? uWS.us_socket_local_port(socket) : 0 })
  })
process.on('disconnect', () => process.exit(0))
