/**
 * Sends the page's requests to the server. On the server's machine requests need no API key. On other machines the user
 * pastes a key, and only this variable stores it.
 */
import { microphoneFault } from './microphone.js'
import { reach } from './reach.js'

let apiKey = null

export const element = (id) => document.getElementById(id)

export function say(id, text, failed = false) {
  const status = element(id)
  status.textContent = text
  status.classList.toggle('failed', failed)
}

export const inWords = (error) => microphoneFault(error) ?? error?.message ?? String(error)

const authorized = (key = apiKey) => ({ headers: { authorization: `Bearer ${key}` } })

/**
 * Throws an error with the server's reason if the key may not open sockets. The key is kept after the server's answer,
 * so a late refusal of another key does not remove this key.
 */
export async function useKey(key) {
  await token(key)
  apiKey = key
}

/** Returns a token for one socket. */
async function token(key = apiKey) {
  const answer = await (key === null
    ? reach('/try/token', { method: 'POST' })
    : reach('/v1/realtime/sessions', { method: 'POST', ...authorized(key) }))
  if (!answer.ok) throw new Error(await refusalOf(answer))
  const { client_secret: secret } = await answer.json()
  return secret.value
}

async function refusalOf(answer) {
  const said = await answer.json().catch(() => null)
  return said?.error?.message ?? `The server gave no token (${answer.status}).`
}

export async function models() {
  const answer = await reach('/v1/models')
  if (!answer.ok) throw new Error(`The server does not list its models (${answer.status}).`)
  const { data } = await answer.json()
  return data
}

/**
 * Returns the route for a socket without a pinned model, and the reasons for the route. Returns null if the server
 * reports no route.
 */
export async function routeOf(stage, language) {
  const query = new URLSearchParams({ stage, ...(language && { language }) })
  if (apiKey === null) return jsonOf(await reach(`/try/route?${query}`))
  query.set('language', language || 'en')
  query.set('path', 'stream')
  return jsonOf(await reach(`/v1/routing/preview?${query}`, authorized()))
}

const jsonOf = (answer) => (answer.ok ? answer.json() : null)

/**
 * Opens a socket. The token is sent as a subprotocol, because a page cannot set headers. `onFrame` receives JSON
 * frames, `onAudio` binary audio.
 */
export async function openSocket(path, { onFrame, onAudio, onClosed }) {
  const { prefix } = document.documentElement.dataset
  const address = new URL(path, location.href.replace(/^http/, 'ws'))
  const socket = new WebSocket(address, [`${prefix}.realtime.v1`, `${prefix}.ephemeral.${await token()}`])
  socket.binaryType = 'arraybuffer'
  // True after the page or the server has announced the end. If the socket closes without this, the connection was
  // lost.
  let isOver = false
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') return onAudio(data)
    const frame = JSON.parse(data)
    isOver ||= frame.type === 'end' || frame.type === 'error'
    onFrame(frame)
  }
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    // Browsers do not show pages the reason for a refused upgrade, so this text is general.
    socket.onclose = () =>
      reject(new Error('The server refused the socket: no provider for this, or too many sockets.'))
  })
  socket.onclose = () => onClosed(isOver ? null : 'The connection was lost.')
  const send = (frame) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(frame instanceof ArrayBuffer ? frame : JSON.stringify(frame))
  }
  const close = () => {
    isOver = true
    socket.close()
  }
  return { send, close }
}
