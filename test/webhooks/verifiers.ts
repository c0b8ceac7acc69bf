/** Two third-party libraries check the signatures for one secret: standardwebhooks for Node and for Python. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { pythonEnvironment } from '../clients/python/environment.ts'
import { missing as libraryMissing, loadLibrary } from '../vendors/standardwebhooks/verify.ts'

export type SignedWebhook = { headers: Record<string, string>; body: Buffer }
/** `verify` returns for each webhook whether its signature is right and its time is recent. */
export type Verifier = {
  name: string
  /** Null if the library is installed, else the reason to skip the test. */
  missing: string | null
  verify: (all: readonly SignedWebhook[]) => Promise<boolean[]>
}

export function nodeVerifier(secret: string): Verifier {
  const library = loadLibrary()
  const isGood = ({ body, headers }: SignedWebhook) => {
    try {
      if (library) new library.Webhook(secret).verify(body, headers)
      return library !== null
    } catch {
      return false
    }
  }
  const missing = library === null ? libraryMissing : null
  return { name: 'standardwebhooks for Node', missing, verify: (all) => Promise.resolve(all.map(isGood)) }
}

export async function pythonVerifier(secret: string): Promise<Verifier> {
  const { python, missing } = await pythonEnvironment('webhooks.txt')
  const program = path.join(import.meta.dirname, '../clients/python/with-standardwebhooks.py')
  return {
    name: 'standardwebhooks for Python',
    missing,
    async verify(all) {
      const child = spawn(python, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
      child.stdin.end(
        JSON.stringify(all.map(({ headers, body }) => ({ secret, headers, body: body.toString('base64') }))),
      )
      return JSON.parse(await text(child.stdout)) as boolean[]
    },
  }
}
