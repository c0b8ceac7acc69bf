/**
 * A second list of the contract's figures. If a limit in `specs/` differs from this list or is missing here, the test
 * fails. The tests for each resource beside this file show that the server obeys the specs.
 */
import t from 'tap'
import { platformContract } from '../../generated/platform/contract.ts'
import { errorCodes } from '../../generated/platform/errors.ts'
import { sessionContract } from '../../generated/session/contract.ts'
import { boundsOf, type Schema } from './bounds.ts'
import { headerText, language, models, shared, token, variable } from './contract-shared-figures.ts'
import { connectionFigures, neutral } from './field-figures.ts'

/** The limits that webhook endpoints and webhook tools share. */
const webhookTarget = {
  url: '1…2048',
  headers: '…20',
  'headers{name}': token,
  'headers{}': `…1024, ${headerText}`,
  authHeaders: '…10',
  'authHeaders[].name': token,
  'authHeaders[].value': `1…4096, ${headerText}`,
  timeoutMs: '1000…30000',
}
const under = (prefix: string, bounds: Record<string, string>) =>
  Object.fromEntries(Object.entries(bounds).map(([path, bound]) => [`${prefix}.${path}`, bound]))
const agentWebhook = { ...webhookTarget, secret: '8…256', responseMode: 'sync', asyncAck: '…0' }
const extraction = {
  extractionFields: '…30',
  'extractionFields[].name': '…64, ^[a-zA-Z_][a-zA-Z0-9_]*$',
  'extractionFields[].type': 'string|number|boolean|enum',
  'extractionFields[].description': '1…10000',
  'extractionFields[].options': '1…50',
  'extractionFields[].options[]': '1…120',
}
const agentWebhooks = Object.fromEntries(
  ['preCall', 'postCall', 'status', 'analysis', 'recording'].flatMap((field) =>
    Object.entries(under(`webhooks.${field}`, { ...agentWebhook, ...(field === 'postCall' && extraction) })),
  ),
)

const agent = {
  ...{ ...shared, ...extraction, ...agentWebhooks },
  ...models('llmOptions', 'stackPreferences'),
  ...neutral('stackPreferences'),
  'audioOutput.gainDb': '0…0',
  name: '1…120, \\S',
  'rmsg.mode': 'dedicated|shared',
  'rmsg.phoneNumberId': '1…64',
  'voicemail.action': 'hangup|leave_message',
  'voicemail.message': '1…1000',
  promptVariables: '…64',
  'promptVariables[].name': variable,
  'promptVariables[].defaultValue': '…4096',
  'promptVariables[].description': '…500',
}

const e164 = '^\\+[1-9]\\d{6,14}$'
const screening = { screeningPrompt: '1…2000', summary: '1…4000' }
const fallback = 'return_to_assistant|take_message|end_call'

const blind = {
  ringingTimeout: '1…120',
  headers: '…16',
  'headers{name}': '^([Xx]-[A-Za-z0-9-]{1,62}|[Uu]ser-[Tt]o-[Uu]ser)$',
  'headers{}': '…256, ^[\\x20-\\x7e]*$',
}
const warm = {
  from: e164,
  destinations: '1…10',
  'destinations[].to': e164,
  'destinations[].label': '1…120',
  ...screening,
  ...under('destinations[]', screening),
  ringingTimeout: '1…120',
  screeningTimeout: '5…120',
  'fallback.strategy': fallback,
  'fallback.message': '1…1000',
  'fallback.takeMessagePrompt': '1…2000',
  'fallback.holdAudioUrl': '1…2048',
  'voicemailDetection.mode': 'agent|carrier|amd|disabled',
  'voicemailDetection.timeoutSeconds': '1…60',
}
const transferConfig = { kind: 'blind|warm', ...blind, ...warm, 'destinations[].description': '1…1024' }

const toolChange = {
  'toolSound.enabled': 'true',
  description: '1…1024',
  // A tool's schema is also limited to 16 KiB and eight levels: see agent-tools.test.ts.
  parameters: '…256',
  ...under('source', { ...webhookTarget, secret: '8…256', timeoutMs: '500…30000' }),
  'source.responseMode': 'sync|async',
  'source.asyncAck': '1…500',
  'source.config.maxDaysAhead': '1…30',
  'source.config.phoneNumberId': '^pn_[0-9A-Za-z]{22}$',
  ...under('source.config', transferConfig),
  preToolSpeech: 'auto|always|never',
}
const tool = { ...toolChange, name: '^[A-Za-z_][A-Za-z0-9_]{0,63}$' }

const session = {
  ...shared,
  ...models('llm', 'constraints'),
  ...neutral('constraints'),
  tools: '…64',
  ...under('tools[]', tool),
  variables: '…64',
  'variables{name}': variable,
  'variables{}': '…4096',
  webhookTags: '…20',
  'webhookTags{name}': '1…64',
  'webhookTags{}': '…256',
  identity: '1…128',
  transport: 'websocket|livekit',
  ttlSeconds: '1…86400',
}

const webhook = {
  contentMode: 'full',
  ...webhookTarget,
  ...extraction,
  name: '1…120, ^[^\\x00]*[^\\s\\x00][^\\x00]*$',
  events: '1…5',
  'events[]': 'call.pre_call|call.status|call.report|call.analysis|call.recording',
  agentIds: '…100',
  'agentIds[]': '1…64',
  filterTags: '…20',
  'filterTags{name}': '1…64',
  'filterTags{}': '…256',
  signingSecretSource: 'workspace|custom',
  signingSecret: '8…256',
}

const template = under('dispatchMetadataTemplate', {
  ...Object.fromEntries(Object.entries(shared).filter(([name]) => !name.startsWith('clientOverrides'))),
  ...models('llm', 'constraints'),
  ...neutral('constraints'),
  tools: '…64',
  ...under('tools[]', tool),
  variables: '…64',
  'variables{name}': variable,
  'variables{}': '…4096',
  webhookTags: '…20',
  'webhookTags{name}': '1…64',
  'webhookTags{}': '…256',
})

const status = 'queued|dialing|ringing|in_progress|transferring|completed|failed|busy|no_answer|cancelled|voicemail'
const kind = 'browser|outbound|inbound|rmsg'
const endReason = [
  'user_hangup|user_disconnected|agent_hangup|api_ended|transferred|silence_timeout|max_duration',
  'voicemail|busy|no_answer|not_joined|cancelled|credit_exhausted|pipeline_failed|worker_lost|server_shutdown',
  'concurrency_exhausted|not_ready|declined|invalid_number|carrier_error',
].join('|')
const recordingStatus = 'recording|uploading|ready|failed|suppressed'
const outcome =
  'resolved|unresolved|transferred|callback_scheduled|voicemail|no_conversation|not_connected|failed|completed'

const platform: Record<string, Record<string, string>> = {
  NewAgent: agent,
  AgentChange: agent,
  NewTool: tool,
  ToolChange: toolChange,
  NewSession: session,
  Telephony: {
    region: 'us|europe|canada|australia|middle_east',
    ringingTimeout: '1…120',
    'amd.mode': 'agent|carrier|disabled',
    'amd.timeoutSeconds': '1…60',
    'voicemail.action': 'hangup|leave_message',
    'voicemail.message': '1…1000',
  },
  BlindTransfer: { to: e164, ...blind, participantIdentity: '…128' },
  WarmTransfer: {
    ...{ to: e164, ...warm, participantIdentity: '…128', waitUntilAnswered: 'false' },
    ...{ outboundTrunkId: '…0', 'destinations[].outboundTrunkId': '…0' },
  },
  CompleteTransfer: { summary: '1…4000', recipientParticipantIdentity: '…128' },
  CancelTransfer: { summary: '1…4000', reason: '…500' },
  Transfer: {
    kind: 'blind|warm',
    status: 'requested|screening|bridging|completed|failed|cancelled',
    failure_cause: 'busy|no_answer|declined|voicemail|caller_hung_up|carrier_error',
  },
  DoneFallback: { action: fallback },
  E164: { '': e164 },
  NewWebhook: webhook,
  WebhookChange: webhook,
  PhoneNumberChange: {
    ...{ sipProviderName: '1…80', direction: 'inbound|outbound|both', label: '…120', ...template },
    smsAutomationEnabled: 'false',
  },
  NewPhoneNumber: { e164: '^\\+[1-9]\\d{6,14}$', direction: 'inbound|outbound|both', label: '…120', ...template },
  ImportedPhoneNumber: {
    e164: '^\\+[1-9]\\d{6,14}$',
    sipTrunkId: '…128',
    sipProviderName: '1…80',
    direction: 'inbound|outbound|both',
    label: '…120',
    ...template,
  },
  NewSipConnection: connectionFigures,
  SipConnectionChange: connectionFigures,
  SecretRotation: { overlapSeconds: '0…604800' },
  EndCall: { reason: '…120' },
  FinalizeReport: {},
  SessionItem: { status, kind, direction: 'inbound|outbound', endReason, recordingStatus },
  SessionTurn: {
    index: '0…',
    source: 'user|agent|system',
    text: '…16384',
    latencyStatus: 'partial|complete|interrupted|error',
    'toolCalls[].status': 'started|completed|failed',
  },
  SessionStreamEnd: { reason: 'session_ended|timeout' },
  StructuredData: { topics: '…10', sentiment: 'positive|neutral|negative', action_items: '…10' },
  CallOutcome: { '': outcome },
  CostLine: {
    stage: 'stt|llm|tts|carrier',
    quantity: '0…',
    keySource: 'BYOK|MANAGED',
    costMicroUsd: '^[0-9]+$',
    leg: 'caller|recipient',
  },
}

const frames: Record<string, Record<string, string>> = {
  OverridesFrame: {
    'overrides.agent.prompt': '1…65536',
    'overrides.agent.firstMessage': '…2000',
    'overrides.agent.language': language,
    'overrides.tts.voiceId': '1…256',
    'overrides.tts.speed': '0.5…2',
  },
  UserMessageFrame: { text: '1…4096' },
  ContextualUpdateFrame: { text: '1…8192' },
  DtmfFrame: { digits: '^[0-9*#A-D]{1,32}$' },
  ToolResultFrame: { id: '1…256', result: '…16384' },
  ToolCallFrame: { status: 'requested|started|completed|failed' },
  EndFrame: { reason: endReason },
}

t.test('the contract of the platform API has the limits that this test lists', (t) => {
  for (const [name, figures] of Object.entries(platform)) t.same(boundsOf(platformContract, name), figures, name)
  t.end()
})

t.test('the contract of session frames has the limits that this test lists', (t) => {
  for (const [name, figures] of Object.entries(frames)) t.same(boundsOf(sessionContract, name), figures, name)
  t.end()
})

t.test('the query parameters in the contract have the limits that this test lists', (t) => {
  const document = JSON.parse(platformContract) as {
    paths: Record<
      string,
      Record<string, { parameters?: { in: string; name: string; schema: Schema & { default?: number } }[] }>
    >
  }
  const limits = Object.entries(document.paths).flatMap(([path, { get }]) =>
    (get?.parameters ?? [])
      .filter(({ name }) => name === 'limit')
      .map(({ schema }) => [path, `${schema.minimum}…${schema.maximum} d ${schema.default}`]),
  )
  const figures = {
    '/v1/sessions': '1…100 d 20',
    '/v1/agents/{id}/calls': '1…100 d 50',
    '/v1/webhook-deliveries': '1…100 d 50',
    '/v1/phone-numbers/available': '1…50 d 10',
  }
  t.match(Object.fromEntries(limits), figures)
  t.end()
})

t.test('the contract has each error code with its HTTP status', (t) => {
  const statuses = Object.entries(errorCodes).map(([code, row]) => [code, row.status])
  t.match(Object.fromEntries(statuses), {
    VALIDATION_ERROR: 400,
    MISSING_TEMPLATE_VARIABLES: 400,
    CAPABILITY_UNSUPPORTED: 400,
    UNAUTHORIZED: 401,
    INSUFFICIENT_CREDITS: 402,
    FORBIDDEN: 403,
    PHONE_NUMBER_NOT_READY: 409,
    KYB_STATE_CONFLICT: 409,
    CARRIER_DIAL_FAILED: 502,
    IDEMPOTENCY_CONFLICT: 409,
    IDEMPOTENCY_IN_PROGRESS: 409,
    PHONE_NUMBER_EXISTS: 409,
    PHONE_NUMBER_UNAVAILABLE: 409,
    BUSINESS_VERIFICATION_REQUIRED: 403,
    CARRIER_NUMBER_FAILED: 502,
    ORIGIN_NOT_ALLOWED: 403,
    ORGANIZATION_DISABLED: 403,
    NOT_FOUND: 404,
    REPORT_NOT_AVAILABLE: 404,
    RECORDING_NOT_AVAILABLE: 404,
    METHOD_NOT_ALLOWED: 405,
    AGENT_NAME_CONFLICT: 409,
    TOOL_NAME_CONFLICT: 409,
    LIMIT_REACHED: 409,
    PRE_CALL_CONFLICT: 409,
    WEBHOOK_LEGACY_MANAGED: 409,
    CALL_NOT_LIVE: 409,
    CALL_NOT_ENDED: 409,
    TRANSFER_UNSUPPORTED: 409,
    TRANSFER_IN_PROGRESS: 409,
    TRANSFER_STATE_CONFLICT: 409,
    REDELIVERY_UNAVAILABLE: 409,
    PAYLOAD_TOO_LARGE: 413,
    UNSUPPORTED_MEDIA: 415,
    RANGE_NOT_SATISFIABLE: 416,
    CONCURRENCY_EXHAUSTED: 429,
    RATE_LIMITED: 429,
    INTERNAL_ERROR: 500,
    SERVICE_UNAVAILABLE: 503,
    PROVIDER_UNAVAILABLE: 503,
  })
  t.end()
})

t.test('the contract has the error codes of the media channel with their close codes', (t) => {
  const { 'x-error-codes': codes } = JSON.parse(sessionContract) as {
    'x-error-codes': Record<string, { closeCode: number | null }>
  }
  t.same(Object.fromEntries(Object.entries(codes).map(([code, { closeCode }]) => [code, closeCode])), {
    TEXT_TOO_LONG: null,
    OVERRIDE_NOT_ALLOWED: null,
    OVERRIDES_TOO_LATE: null,
    UNKNOWN_TOOL_CALL: null,
    INVALID_FRAME: 1008,
    REPLACED: 1008,
    BACKPRESSURE: 1008,
    RATE_LIMITED: 1013,
    UPSTREAM: 1011,
    INTERNAL: 1011,
    BUDGET_EXHAUSTED: 1008,
    REVOKED: 4401,
    SHUTTING_DOWN: 1012,
  })
  t.end()
})
