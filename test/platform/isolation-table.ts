/** The operations of the platform API, and a request for each operation with an id. */

/** One organization's ids, and unused ids in the same form. */
export type Things = {
  agent: string
  tool: string
  provider: string
  request: string
  call: string
  transfer: string
  callback: string
  delivery: string
  webhook: string
  number: string
  connection: string
  subscription: string
  richNumber: string
  conversation: string
  key: string
  member: string
}
export const unknown: Things = {
  agent: 'agent_0123456789012345678901',
  tool: 'tool_0123456789012345678901',
  provider: 'nobody',
  request: 'req_0123456789012345678901',
  call: '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70',
  transfer: '019aaaf6-8d20-7c31-8f11-90c5d2a7e4b3',
  callback: 'callback_0123456789012345678901',
  delivery: '019aaaf7-6690-7a41-9c05-3e8d2b6f7a10',
  webhook: '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a71',
  number: 'pn_0123456789012345678901',
  connection: 'sip_0123456789012345678901',
  subscription: '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a90',
  richNumber: '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a80',
  conversation: '5b0f4c1e-94a3-8d72-a6c8-0e2f7b1d3c55',
  key: 'key_0123456789012345678901',
  member: 'usr_0123456789012345678901',
}

/** The operations on one resource, each with requests that name the resource by its id. */
export const byId: Record<string, { method: string; path: (things: Things) => string; body?: object }[]> = {
  getAgent: [{ method: 'GET', path: ({ agent }) => `/v1/agents/${agent}` }],
  updateAgent: [
    { method: 'PATCH', path: ({ agent }) => `/v1/agents/${agent}`, body: { voice: 'stolen' } },
    { method: 'PATCH', path: ({ agent }) => `/v1/agents/${agent}`, body: {} },
  ],
  deleteAgent: [{ method: 'DELETE', path: ({ agent }) => `/v1/agents/${agent}` }],
  listAgentVersions: [{ method: 'GET', path: ({ agent }) => `/v1/agents/${agent}/versions` }],
  getAgentVersion: [{ method: 'GET', path: ({ agent }) => `/v1/agents/${agent}/versions/1` }],
  restoreAgentVersion: [{ method: 'POST', path: ({ agent }) => `/v1/agents/${agent}/versions/1/restore` }],
  listAgentTools: [{ method: 'GET', path: ({ agent }) => `/v1/agents/${agent}/tools` }],
  createAgentTool: [
    {
      method: 'POST',
      path: ({ agent }) => `/v1/agents/${agent}/tools`,
      body: { name: 'stolen', description: 'x', source: { kind: 'inline' } },
    },
  ],
  getAgentTool: [
    { method: 'GET', path: ({ agent, tool }) => `/v1/agents/${agent}/tools/${tool}` },
    { method: 'GET', path: ({ tool }) => `/v1/agents/${unknown.agent}/tools/${tool}` },
  ],
  updateAgentTool: [
    {
      method: 'PATCH',
      path: ({ agent, tool }) => `/v1/agents/${agent}/tools/${tool}`,
      body: { source: { kind: 'webhook', url: 'https://thief.example/', authHeaders: [{ name: 'x-key' }] } },
    },
    { method: 'PATCH', path: ({ agent, tool }) => `/v1/agents/${agent}/tools/${tool}`, body: {} },
  ],
  testAgentTool: [
    { method: 'POST', path: ({ agent, tool }) => `/v1/agents/${agent}/tools/${tool}/test` },
    { method: 'POST', path: ({ agent, tool }) => `/v1/agents/${agent}/tools/${tool}/test`, body: { args: {} } },
  ],
  deleteAgentTool: [{ method: 'DELETE', path: ({ agent, tool }) => `/v1/agents/${agent}/tools/${tool}` }],
  deleteProviderKey: [{ method: 'DELETE', path: ({ provider }) => `/v1/providers/${provider}` }],
  checkProvider: [{ method: 'POST', path: ({ provider }) => `/v1/providers/${provider}/check` }],
  listAgentCalls: [{ method: 'GET', path: ({ agent }) => `/v1/agents/${agent}/calls` }],
  getSession: [{ method: 'GET', path: ({ call }) => `/v1/sessions/${call}` }],
  getSessionTranscript: [{ method: 'GET', path: ({ call }) => `/v1/sessions/${call}/transcript` }],
  streamSession: [{ method: 'GET', path: ({ call }) => `/v1/sessions/${call}/stream` }],
  getCall: [{ method: 'GET', path: ({ call }) => `/v1/calls/${call}` }],
  listCallEvents: [{ method: 'GET', path: ({ call }) => `/v1/calls/${call}/events` }],
  getCallReport: [{ method: 'GET', path: ({ call }) => `/v1/calls/${call}/report` }],
  finalizeCallReport: [
    { method: 'POST', path: ({ call }) => `/v1/calls/${call}/report/finalize` },
    { method: 'POST', path: ({ call }) => `/v1/calls/${call}/report/finalize`, body: { forceAnalysis: true } },
  ],
  getCallRecording: [{ method: 'GET', path: ({ call }) => `/v1/calls/${call}/recording` }],
  listCallRequests: [{ method: 'GET', path: ({ call }) => `/v1/calls/${call}/requests` }],
  getRecordingPeaks: [{ method: 'GET', path: ({ call }) => `/v1/calls/${call}/recording/peaks` }],
  getCallRecordingAudio: [{ method: 'GET', path: ({ call }) => `/v1/calls/${call}/recording/audio` }],
  getCallBundle: [{ method: 'GET', path: ({ call }) => `/v1/calls/${call}/bundle` }],
  webJoinCall: [
    { method: 'POST', path: ({ call }) => `/v1/calls/${call}/web-join` },
    { method: 'POST', path: ({ call }) => `/v1/calls/${call}/web-join`, body: { displayName: 'thief' } },
  ],
  endCall: [{ method: 'POST', path: ({ call }) => `/v1/calls/${call}/end` }],
  transferCallBlind: [
    { method: 'POST', path: ({ call }) => `/v1/calls/${call}/transfers/blind`, body: { to: '+15005550006' } },
  ],
  transferCallWarm: [
    { method: 'POST', path: ({ call }) => `/v1/calls/${call}/transfers/warm`, body: { to: '+15005550006' } },
  ],
  completeTransfer: [
    { method: 'POST', path: ({ call, transfer }) => `/v1/calls/${call}/transfers/${transfer}/complete` },
    { method: 'POST', path: ({ transfer }) => `/v1/calls/${unknown.call}/transfers/${transfer}/complete`, body: {} },
  ],
  cancelTransfer: [
    { method: 'POST', path: ({ call, transfer }) => `/v1/calls/${call}/transfers/${transfer}/cancel` },
    { method: 'POST', path: ({ call }) => `/v1/calls/${call}/transfers/${unknown.transfer}/cancel`, body: {} },
  ],
  getCallback: [{ method: 'GET', path: ({ callback }) => `/v1/callbacks/${callback}` }],
  cancelCallback: [
    { method: 'POST', path: ({ callback }) => `/v1/callbacks/${callback}/cancel` },
    { method: 'POST', path: ({ callback }) => `/v1/callbacks/${callback}/cancel`, body: { reason: 'stolen' } },
  ],
  dispatchCallback: [{ method: 'POST', path: ({ callback }) => `/v1/callbacks/${callback}/dispatch` }],
  getWebhookDelivery: [{ method: 'GET', path: ({ delivery }) => `/v1/webhook-deliveries/${delivery}` }],
  redeliverWebhook: [{ method: 'POST', path: ({ delivery }) => `/v1/webhook-deliveries/${delivery}/redeliver` }],
  getWebhook: [{ method: 'GET', path: ({ webhook }) => `/v1/webhooks/${webhook}` }],
  updateWebhook: [
    { method: 'PATCH', path: ({ webhook }) => `/v1/webhooks/${webhook}`, body: { url: 'https://thief.example/' } },
    { method: 'PATCH', path: ({ webhook }) => `/v1/webhooks/${webhook}`, body: {} },
  ],
  testWebhook: [
    { method: 'POST', path: ({ webhook }) => `/v1/webhooks/${webhook}/test`, body: { event: 'call.status' } },
  ],
  recoverWebhook: [
    {
      method: 'POST',
      path: ({ webhook }) => `/v1/webhooks/${webhook}/recover`,
      body: { since: new Date(Date.now() - 3_600_000).toISOString() },
    },
  ],
  verifyWebhookSignature: [
    {
      method: 'POST',
      path: ({ webhook }) => `/v1/webhooks/${webhook}/verify`,
      body: { headers: {}, body: '' },
    },
  ],
  deleteWebhook: [{ method: 'DELETE', path: ({ webhook }) => `/v1/webhooks/${webhook}` }],
  getPhoneNumber: [{ method: 'GET', path: ({ number }) => `/v1/phone-numbers/${number}` }],
  updatePhoneNumber: [
    { method: 'PATCH', path: ({ number }) => `/v1/phone-numbers/${number}`, body: { label: 'stolen' } },
    { method: 'PATCH', path: ({ number }) => `/v1/phone-numbers/${number}`, body: {} },
  ],
  deletePhoneNumber: [{ method: 'DELETE', path: ({ number }) => `/v1/phone-numbers/${number}` }],
  updateSipConnection: [
    {
      method: 'PATCH',
      path: ({ connection }) => `/v1/phone-numbers/sip-connections/${connection}`,
      body: { name: 'stolen' },
    },
    { method: 'PATCH', path: ({ connection }) => `/v1/phone-numbers/sip-connections/${connection}`, body: {} },
  ],
  deleteSipConnection: [
    { method: 'DELETE', path: ({ connection }) => `/v1/phone-numbers/sip-connections/${connection}` },
  ],
  checkSipConnection: [
    { method: 'POST', path: ({ connection }) => `/v1/phone-numbers/sip-connections/${connection}/check` },
  ],
  deleteRmsgSubscription: [
    { method: 'DELETE', path: ({ subscription }) => `/v1/rmsg-phone-numbers/webhook/${subscription}` },
  ],
  sendNumberMessage: [
    {
      method: 'POST',
      path: ({ richNumber }) => `/v1/rmsg-phone-numbers/${richNumber}/messages`,
      body: { to: '+15005550030', text: 'stolen' },
    },
  ],
  listConversationMessages: [
    { method: 'GET', path: ({ conversation }) => `/v1/conversations/${conversation}/messages` },
  ],
  sendAgentMessage: [
    {
      method: 'POST',
      path: ({ agent }) => `/v1/rmsg/${agent}/messages`,
      body: { to: '+15005550030', text: 'stolen' },
    },
  ],
  callFromRmsgNumber: [
    {
      method: 'POST',
      path: ({ richNumber }) => `/v1/rmsg-phone-numbers/${richNumber}/calls`,
      body: { to: '+15005550006' },
    },
    {
      method: 'POST',
      path: ({ richNumber }) => `/v1/rmsg-phone-numbers/${richNumber}/calls`,
      body: { to: '+15005550006', agentId: unknown.agent },
    },
  ],
  assignSmsNumber: [
    { method: 'POST', path: ({ number }) => `/v1/sms/10dlc/numbers/${number}/assign` },
    { method: 'POST', path: ({ number }) => `/v1/sms/10dlc/numbers/${number}/assign`, body: { target: 'shared' } },
  ],
  unassignSmsNumber: [{ method: 'DELETE', path: ({ number }) => `/v1/sms/10dlc/numbers/${number}/assign` }],
  updateKey: [
    { method: 'PATCH', path: ({ key }) => `/v1/keys/${key}`, body: { name: 'stolen' } },
    { method: 'PATCH', path: ({ key }) => `/v1/keys/${key}`, body: {} },
  ],
  rotateKey: [
    { method: 'POST', path: ({ key }) => `/v1/keys/${key}/rotate` },
    { method: 'POST', path: ({ key }) => `/v1/keys/${key}/rotate`, body: { overlapSeconds: 60 } },
  ],
  revokeKey: [{ method: 'DELETE', path: ({ key }) => `/v1/keys/${key}` }],
  updateMember: [{ method: 'PATCH', path: ({ member }) => `/v1/members/${member}`, body: { role: 'owner' } }],
  removeMember: [{ method: 'DELETE', path: ({ member }) => `/v1/members/${member}` }],
  signOutMember: [{ method: 'POST', path: ({ member }) => `/v1/members/${member}/sign-out` }],
  getRequestRoute: [{ method: 'GET', path: ({ request }) => `/v1/requests/${request}/route` }],
}

/**
 * The operations without an id. They return the organization's own resources, so the tests search the responses for
 * another organization's resources.
 */
export const withoutId = [
  'getPlatformContract',
  'getSessionContract',
  'getOrganization',
  'updateOrganization',
  'listKeys',
  'listMembers',
  'listAuditEvents',
  'createKey',
  'listInvitations',
  'createInvitation',
  'getCredits',
  'getCreditBalance',
  'getCreditLedger',
  'getUsage',
  'listAgents',
  'createAgent',
  'createSession',
  'createPhoneSession',
  'listCalls',
  'streamCalls',
  'getCallFigures',
  'listSessions',
  'listCallbacks',
  'listWebhookDeliveries',
  'listWebhooks',
  'listPhoneNumbers',
  'searchPhoneNumbers',
  'purchasePhoneNumber',
  'importPhoneNumber',
  'listSipConnections',
  'createSipConnection',
  'listConversations',
  'listRmsgNumbers',
  'listRmsgSubscriptions',
  'putRmsgSubscription',
  'deleteRmsgSubscriptions',
  'getBusinessVerification',
  'saveBusinessVerificationDraft',
  'submitBusinessVerification',
  'getSmsRegistration',
  'saveSmsBrand',
  'submitSmsBrand',
  'orderSmsBrandVetting',
  'saveSmsCampaign',
  'submitSmsCampaign',
  'createWebhook',
  'getWebhookSecret',
  'rotateWebhookSecret',
  'streamWebhookEvents',
  'listProviders',
  'putProviderKey',
  'listKnownProviders',
  'listProviderHealth',
  'listVoices',
]

/** The operations on a single resource that need the scope `admin`. API keys for test data cannot have this scope. */
export const ofAdmin: readonly string[] = ['resendInvitation', 'deleteInvitation']

/** Each operation's error code in its 404 answers. Null if the answer has no code. */
export const codes: Record<string, string | null> = {
  assignSmsNumber: 'PHONE_NUMBER_NOT_FOUND',
  unassignSmsNumber: 'PHONE_NUMBER_NOT_FOUND',
  sendNumberMessage: 'PHONE_NUMBER_NOT_FOUND',
  callFromRmsgNumber: 'PHONE_NUMBER_NOT_FOUND',
  sendAgentMessage: null,
}
