/**
 * Platform operations whose command is just a row in this table. In `<agent=id>` the first word is the argument and the
 * second word the path parameter. If the first word is agent, endpoint or number, a name is accepted too.
 */
import type { PlatformClient } from '../generated/clients/typescript/platform.ts'

export type OperationRow = {
  words: string
  operation: keyof PlatformClient
  says: string
  /** Query parameters, which become options. */
  query?: readonly string[]
  body?: 'required' | 'optional'
}

const row = (
  words: string,
  operation: keyof PlatformClient,
  says: string,
  more: Pick<OperationRow, 'query' | 'body'> = {},
): OperationRow => ({ words, operation, says, ...more })

const filled = { body: 'required' } as const
const mayBeFilled = { body: 'optional' } as const
const paged = ['limit', 'cursor'] as const

export const operationRows: readonly OperationRow[] = [
  row('members list', 'listMembers', 'the people of the organization'),
  row('members update <user=userId>', 'updateMember', 'give a person another role: --set role=member', filled),
  row('members remove <user=userId>', 'removeMember', 'take the role of a person away'),
  row('members sign-out <user=userId>', 'signOutMember', 'end the sessions and tokens of a person'),
  row('invitations list', 'listInvitations', 'the open invitations to the organization'),
  row('invitations create', 'createInvitation', 'invite a person: --set email=… --set role=viewer', filled),
  row('invitations resend <invitation=id>', 'resendInvitation', 'make a new link, and end the one before'),
  row('invitations delete <invitation=id>', 'deleteInvitation', 'end an invitation'),
  row('agents update <agent=id>', 'updateAgent', 'change the settings that are named, and leave the rest', filled),
  row('agents calls <agent=id>', 'listAgentCalls', 'the calls of an agent, newest first', {
    query: [...paged, 'since'],
  }),
  row('agents versions <agent=id>', 'listAgentVersions', 'how the agent was after each change, newest first', {
    query: paged,
  }),
  row('agents version <agent=id> <version=version>', 'getAgentVersion', 'the agent and its tools as they were then'),
  row('agents restore <agent=id> <version=version>', 'restoreAgentVersion', 'make the agent as it was then'),
  row('tools list <agent=id>', 'listAgentTools', 'the tools of an agent'),
  row('tools show <agent=id> <tool=toolId>', 'getAgentTool', 'one tool'),
  row('tools create <agent=id>', 'createAgentTool', 'give an agent a tool: docs/tools.md', filled),
  row('tools update <agent=id> <tool=toolId>', 'updateAgentTool', 'change what is named of a tool', filled),
  row('tools test <agent=id> <tool=toolId>', 'testAgentTool', 'send one request to a webhook tool', mayBeFilled),
  row('tools delete <agent=id> <tool=toolId>', 'deleteAgentTool', 'take a tool away'),
  row('sessions create', 'createSession', 'a conversation for a browser: its address and its token', filled),
  row('sessions phone', 'createPhoneSession', 'call a phone; `dial` does it and follows the call', filled),
  row('sessions show <session=id>', 'getSession', 'one session'),
  row('sessions transcript <session=id>', 'getSessionTranscript', 'what was said, turn by turn'),
  row('calls figures', 'getCallFigures', 'sums of calls by time and group: --group-by agent', {
    query: ['since', 'until', 'interval', 'time_zone', 'group_by', 'agent_id', 'kind', 'phone_number_id'],
  }),
  row('calls requests <call=id>', 'listCallRequests', 'the requests of a call to models'),
  row('calls events <call=id>', 'listCallEvents', 'the events of a call, oldest first'),
  row('calls report <call=id>', 'getCallReport', 'the report of a call that is over'),
  row('calls finalize <call=id>', 'finalizeCallReport', 'make the report of a call again', mayBeFilled),
  row('calls recording <call=id>', 'getCallRecording', 'a link to the recording', { query: ['expires_in'] }),
  row('calls join <call=id>', 'webJoinCall', 'a seat in a live call, for a browser', mayBeFilled),
  row('transfers blind <call=id>', 'transferCallBlind', 'hand the caller over, and leave', filled),
  row('transfers warm <call=id>', 'transferCallWarm', 'call a person first, and then connect the caller', filled),
  row(
    'transfers complete <call=id> <transfer=transferId>',
    'completeTransfer',
    'connect caller and person now',
    mayBeFilled,
  ),
  row('transfers cancel <call=id> <transfer=transferId>', 'cancelTransfer', 'give the transfer up', mayBeFilled),
  row('callbacks show <callback=id>', 'getCallback', 'one promised call'),
  row('callbacks dispatch <callback=id>', 'dispatchCallback', 'make a promised call now'),
  row('webhooks create', 'createWebhook', 'an endpoint that gets the events of calls: docs/webhooks.md', filled),
  row('webhooks show <endpoint=id>', 'getWebhook', 'one endpoint'),
  row('webhooks update <endpoint=id>', 'updateWebhook', 'change what is named of an endpoint', filled),
  row('webhooks delete <endpoint=id>', 'deleteWebhook', 'remove an endpoint'),
  row('webhooks verify <endpoint=id>', 'verifyWebhookSignature', 'check the signature of a request', filled),
  row('webhooks delivery <delivery=id>', 'getWebhookDelivery', 'one delivery with its attempts'),
  row('providers list', 'listProviders', 'the provider keys of the organization; no key is shown'),
  row('providers known', 'listKnownProviders', 'the providers for which a key can be stored'),
  row('providers health', 'listProviderHealth', 'how healthy the models of the providers are'),
  row('providers set', 'putProviderKey', 'store a key of a provider; --file - keeps it out of the history', filled),
  row('providers delete <provider=provider>', 'deleteProviderKey', 'remove the key of a provider'),
  row('organization show', 'getOrganization', 'the organization of the key'),
  row('organization update', 'updateOrganization', 'change its settings', filled),
  row('organization balance', 'getCreditBalance', 'the credit that is left; `credits` has all that has changed it'),
  row('organization ledger', 'getCreditLedger', 'the movements of the credit, as the published SDKs read them', {
    query: paged,
  }),
  row('voices list', 'listVoices', 'the voices of the catalog'),
  row('business show', 'getBusinessVerification', 'the verification of the business, which may then buy numbers'),
  row('business save', 'saveBusinessVerificationDraft', 'save a draft of it', filled),
  row('business submit', 'submitBusinessVerification', 'submit it to the operator', filled),
  row('sms show', 'getSmsRegistration', 'the registration for text messages in the USA: docs/sms.md'),
  row('sms save-brand', 'saveSmsBrand', 'save the profile of the brand', filled),
  row('sms submit-brand', 'submitSmsBrand', 'submit the brand; this costs money'),
  row('sms order-vetting', 'orderSmsBrandVetting', 'order a vetting of the brand; this costs money', filled),
  row('sms save-campaign', 'saveSmsCampaign', 'save the profile of the campaign', filled),
  row('sms submit-campaign', 'submitSmsCampaign', 'submit the campaign; this costs money'),
  row('sms assign <number=phoneNumberId>', 'assignSmsNumber', 'let a number send in the campaign', mayBeFilled),
  row('sms unassign <number=phoneNumberId>', 'unassignSmsNumber', 'take a number out of the campaign'),
  row('rmsg numbers', 'listRmsgNumbers', 'the rich-message numbers of the organization: docs/rmsg.md'),
  row('rmsg send <agent=agentId>', 'sendAgentMessage', 'send a message from a number of an agent', filled),
  row('rmsg send-from <id=phoneNumberId>', 'sendNumberMessage', 'send a message from this number', filled),
  row('rmsg call <id=phoneNumberId>', 'callFromRmsgNumber', 'call from a rich-message number', filled),
  row('rmsg subscriptions', 'listRmsgSubscriptions', 'the addresses that get rich messages'),
  row('rmsg subscribe', 'putRmsgSubscription', 'have rich messages sent to an address', filled),
  row('rmsg unsubscribe <subscription=id>', 'deleteRmsgSubscription', 'remove one of these addresses'),
  row('rmsg unsubscribe-all', 'deleteRmsgSubscriptions', 'remove all of them', { query: ['organizationId'] }),
  row('conversations list', 'listConversations', 'the conversations over rich messages, newest first', {
    query: ['agentId', 'phoneNumberId', 'number', 'since', 'until', ...paged],
  }),
  row('conversations messages <conversation=id>', 'listConversationMessages', 'the messages of a conversation', {
    query: paged,
  }),
  row('contract platform', 'getPlatformContract', 'the OpenAPI document of the platform surface'),
  row('contract session', 'getSessionContract', 'the AsyncAPI document of the sockets of sessions'),
]

export const groupWords: Readonly<Record<string, string>> = {
  members: 'the people of the organization',
  invitations: 'open invitations to the organization',
  tools: 'tools of agents: webhooks that answer while the caller waits',
  sessions: 'conversations: start one, and read one',
  transfers: 'transfers of live calls to people',
  organization: 'the organization of the key',
  voices: 'the voices of the models',
  business: 'the verification of the business of the organization',
  conversations: 'messages between numbers of the organization and people',
  contract: 'the documents of the contract, as this server serves them',
}
