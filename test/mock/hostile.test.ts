/** The mock server survives requests that break off, and ends while clients keep their connections open. */
import { once } from 'node:events'
import net from 'node:net'
import t from 'tap'
import { startMock } from '../../mock/server.ts'
import { serve } from './setup.ts'

const { url, request } = await serve(t)

t.test('a multipart body that is cut off inside a file is answered 400, and the server goes on', async (t) => {
  const forms = {
    '/v1/audio/transcriptions':
      'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav',
    '/router/v1/stt/transcriptions':
      'Content-Disposition: form-data; name="request"; filename="a.json"\r\nContent-Type: application/json',
  }
  for (const [path, head] of Object.entries(forms)) {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const answer = await request(path, { method: 'POST', headers, body: `--b\r\n${head}\r\n\r\nRIFF` })
    t.equal(answer.status, 400, path)
  }
  t.equal((await request('/v1/agents')).status, 200)
})

t.test('a Prefer header with a name that every JavaScript object inherits is answered 400', async (t) => {
  for (const prefer of ['code=constructor', 'example=constructor'])
    t.equal((await request('/v1/agents', { headers: { prefer } })).status, 400, prefer)
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
  socket.end(`${opening}Prefer: code=constructor\r\nAuthorization: Bearer any\r\n\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  t.match(answer.toString(), /^HTTP\/1.1 101 /)
  socket.destroy()
})

const opening = [
  'GET /v1/transcribe/stream HTTP/1.1',
  'Host: mock',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '',
].join('\r\n')

t.test('the server can be closed while clients keep accepted and refused sockets open', async (t) => {
  const mock = await startMock({ host: '127.0.0.1', port: 0 })
  const connect = async (credentials: string) => {
    const socket = net.connect({ port: Number(new URL(mock.url).port), host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    socket.write(`${opening}${credentials}\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.toString().split(' ')[1]
  }
  t.equal(await connect('Sec-WebSocket-Protocol: service.realtime.v1\r\n'), '401')
  t.equal(await connect('Authorization: Bearer any\r\n'), '101')
  await mock.close()
})
