// The LLM provider behind the gateway and behind the bare hop. It answers a chat completion at once, as JSON or as
// events.
import uWS, { type HttpResponse } from 'uWebSockets.js'
import { jsonAnswer, streamHead, streamRest, word, wordsAStream, wordsEnd } from './mock-answers.ts'

const wordMs = 5

uWS
  .App()
  .post('/v1/chat/completions', (res) => {
    let body = ''
    let gone = false
    const isGone = () => gone
    res.onAborted(() => {
      gone = true
    })
    res.onData((part, last) => {
      body += Buffer.from(part).toString('latin1')
      if (!last || gone) return
      if (!body.includes('"stream":true')) return sendJson(res)
      if (body.includes('"model":"mock-words"')) return sendWords(res, isGone)
      sendStream(res, isGone)
    })
  })
  .listen('127.0.0.1', 0, (socket) => {
    process.send?.({ port: socket ? uWS.us_socket_local_port(socket) : 0 })
  })
process.on('disconnect', () => process.exit(0))

function sendJson(res: HttpResponse): void {
  res.cork(() => {
    res.writeHeader('Content-Type', 'application/json').end(jsonAnswer)
  })
}

function sendStream(res: HttpResponse, isGone: () => boolean): void {
  res.cork(() => {
    res.writeHeader('Content-Type', 'text/event-stream')
    res.write(streamHead)
  })
  setTimeout(() => {
    if (!isGone()) res.cork(() => res.end(streamRest))
  }, 5)
}

function sendWords(res: HttpResponse, isGone: () => boolean): void {
  let left = wordsAStream
  res.cork(() => {
    res.writeHeader('Content-Type', 'text/event-stream')
    res.write(streamHead)
  })
  const timer = setInterval(() => {
    if (isGone()) return clearInterval(timer)
    if (left-- > 0) return void res.cork(() => res.write(word))
    clearInterval(timer)
    res.cork(() => res.end(wordsEnd))
  }, wordMs)
}
