/** Two libraries that are not ours check signatures: standardwebhooks for Node and standardwebhooks for Python. */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { webhookHeaders } from '../../domain/webhooks/signature.ts'
import { pythonEnvironment } from '../clients/python/environment.ts'

export type SignedWebhook = { headers: Record<string, string>; body: string }
/** `verify` answers for each webhook whether its signature is right and its time is now. */
export type Verifier = {
  name: string
  missing: string | null
  verify: (all: readonly SignedWebhook[]) => Promise<boolean[]>
}

type Library = { Webhook: new (secret: string) => { verify(body: string, headers: Record<string, string>): unknown } }

export function nodeVerifier(secret: string): Verifier {
  const require = createRequire(path.join(import.meta.dirname, '../vendors/package.json'))
  const name = 'standardwebhooks for Node'
  let library: Library
  try {
    library = require('standardwebhooks') as Library
  } catch {
    return { name, missing: 'it is not installed: npm ci in test/vendors', verify: () => Promise.resolve([]) }
  }
  const webhook = new library.Webhook(secret)
  const isGood = ({ body, headers }: SignedWebhook) => {
    try {
      webhook.verify(body, headers)
      return true
    } catch {
      return false
    }
  }
  return { name, missing: null, verify: (all) => Promise.resolve(all.map(isGood)) }
}

const bytesMax = 64 * 1024 * 1024

export async function pythonVerifier(secret: string): Promise<Verifier> {
  const { python, missing } = await pythonEnvironment('webhooks.txt')
  const program = path.join(import.meta.dirname, 'verify.py')
  return {
    name: 'standardwebhooks for Python',
    missing,
    async verify(all) {
      const run = promisify(execFile)(python, [program], { maxBuffer: bytesMax })
      run.child.stdin?.end(JSON.stringify({ secret, webhooks: all }))
      return JSON.parse((await run).stdout) as boolean[]
    },
  }
}

/** The webhook with another body, and signed well but six minutes ago. A library must accept neither. */
export function refusedVariants({ headers, body }: SignedWebhook, secret: string): SignedWebhook[] {
  const id = headers['webhook-id'] ?? ''
  const old = webhookHeaders({ id, nowMs: Date.now() - 360_000, body }, [secret])
  return [
    { headers, body: body.replace('call_id', 'cell_id') },
    { headers: { ...headers, ...old }, body },
  ]
}
