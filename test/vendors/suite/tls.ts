/** A certificate for 127.0.0.1, made on demand, for SDKs that require https and wss. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** PEM; `cert` is self-signed. Null on machines without openssl. */
export function selfSigned(): { key: string; cert: string } | null {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-test-tls-'))
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert]
  const subject = ['-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  try {
    execFileSync('openssl', ['req', '-x509', ...curve, ...subject], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } catch {
    return null
  } finally {
    rmSync(folder, { recursive: true })
  }
}
