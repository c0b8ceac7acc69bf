/** Makes a certificate for a stub with TLS, and a WebSocket transport to a stub. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Test } from 'tap'
import { createSocketTransport, type SocketTransportOptions } from '../../providers/wire/socket-transport.ts'
import { outboundDefaults } from '../../runtime/outbound/limits.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { StubSocket } from './stub-socket.ts'

export function transport(t: Test, stub: StubSocket, changes: Partial<SocketTransportOptions> = {}) {
  const made = createSocketTransport({
    baseUrl: `http://127.0.0.1:${stub.port}/v1/`,
    wire: {
      sign: (key) => ['authorization', `Token ${key}`],
      classify: (_status, body) => (body?.['err_code'] === 'NO_CREDIT' ? 'quota' : null),
    },
    limits: { ...outboundDefaults, connectMs: 5000 },
    clock: systemClock,
    ...changes,
  })
  t.teardown(() => made.close())
  return made
}

/** Makes a key and a certificate. Null on machines without openssl. */
export function certificate(): { key: string; cert: string } | null {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tls-'))
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const make = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost -keyout ${key} -out ${cert}`
    execFileSync('openssl', make.split(' '), { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } catch {
    return null
  } finally {
    rmSync(folder, { recursive: true })
  }
}
