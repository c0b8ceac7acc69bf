// A webhook receiver in a separate process, which a test can kill: `node killable-receiver.mjs PORT FILE`. It appends
// each request to FILE before it answers, and prints its port when it listens. It ends when its standard input is
// closed, so it also ends if its parent is killed.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [port = '0', file = ''] = process.argv.slice(2)
const server = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('base64')
    appendFileSync(file, `${JSON.stringify({ headers: request.headers, body })}\n`)
    response.writeHead(204).end()
  })
})
server.listen(Number(port), '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().on('close', () => process.exit())
