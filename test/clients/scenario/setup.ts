/**
 * Starts the server for the test programs. Each language gets a separate organization, a signed webhook from the
 * server, and a proxy with faults.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { packageFile } from '../../../runtime/package-file.ts'
import { call, startOwnAdministered } from '../../platform/setup.ts'
import { startStubOpenAi } from '../../providers/stub-openai.ts'
import { loadStreamModels } from '../../realtime/socket.ts'
import type { Target } from '../../router/requests.ts'
import { startReceiver } from '../../webhooks/receiver.ts'
import { type Faults, startFaults } from './faults.ts'
import { type RuleServer, startRuleServer } from './rule-server.ts'
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts'
import { webhookCases } from './webhook-cases.ts'

export type Run = { env: NodeJS.ProcessEnv; faults: Faults; rules: RuleServer; scripted: ScriptedServer }
export type Scenario = { prepare(t: Test, language: string): Promise<Run> }

const secret = `whsec_${Buffer.from('the secret of the scenario').toString('base64')}`

export async function startScenario(t: Test): Promise<Scenario> {
  const stub = await startStubOpenAi()
  t.teardown(() => stub.close())
  // The model `tools` calls the first tool in the request.
  stub.behave(...Array.from({ length: 100 }, () => ({ kind: 'agent' }) as const))
  const tools = {
    id: 'tools',
    adapter: 'openai',
    baseUrl: `${stub.url}/v1`,
    apiKey: 'none',
    models: { llm: ['tools'] },
  }
  const { parley, admin } = await startOwnAdministered(t, {
    PARLEY_PROVIDERS: JSON.stringify([{ id: 'loopback', adapter: 'loopback' }, tools]),
    PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
    PARLEY_TIMEOUTS_FIRST_AUDIO_MS: '60000',
  })
  await loadStreamModels(parley)
  return {
    async prepare(t, language) {
      const organization = await admin.organization(language, { scopes: ['router', 'realtime', 'platform'] })
      await admin.store.organizations.change(organization.id, { recordingEnabled: true })
      const faults = await startFaults(parley.url)
      t.teardown(() => faults.close())
      const scripted = await startScriptedServer()
      t.teardown(() => scripted.close())
      const rules = await startRuleServer()
      t.teardown(() => rules.close())
      const folder = t.testdir({ 'cases.json': JSON.stringify(webhookCases) })
      const webhook = path.join(folder, 'webhook.json')
      writeFileSync(webhook, JSON.stringify(await signedWebhook(t, organization)))
      const env = {
        ...process.env,
        PARLEY_URL: parley.url,
        PARLEY_API_KEY: organization.key,
        PARLEY_FAULTS_URL: faults.url,
        PARLEY_SCRIPTED_URL: scripted.url,
        PARLEY_WAV: packageFile('test/fixtures/speech/privacy-prompt.wav').pathname,
        PARLEY_RULES_URL: rules.url,
        PARLEY_WEBHOOK: webhook,
        PARLEY_WEBHOOK_CASES: path.join(folder, 'cases.json'),
        PARLEY_WEBHOOK_SECRET: secret,
      }
      return { env, faults, rules, scripted }
    },
  }
}

/** Returns a webhook that the server has signed and sent. */
async function signedWebhook(t: Test, organization: Target) {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const made = await call(organization, 'POST', '/v1/webhooks', {
    ...{ name: 'scenario', url: receiver.url, events: ['call.report'] },
    ...{ signingSecretSource: 'custom', signingSecret: secret },
  })
  const address = `/v1/webhooks/${made.json<{ id: string }>().id}`
  await call(organization, 'POST', `${address}/test`, { event: 'call.report' })
  await call(organization, 'DELETE', address)
  const [sent] = receiver.received
  if (sent === undefined) throw new Error('the server sent no webhook')
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  return { headers: Object.fromEntries(names.map((name) => [name, sent.headers[name]])), body: sent.body.toString() }
}
