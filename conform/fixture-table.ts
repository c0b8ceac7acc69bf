/** The resources for each operation's path and body, and the operations for their removal. */
import type { Operation } from './contract.ts'

/** A resource for a path or a body. */
export type Kind =
  | 'agent'
  | 'tool'
  | 'webhook'
  | 'sipConnection'
  | 'number'
  | 'queued'
  | 'live'
  | 'talked'
  | 'recorded'
  | 'delivery'
  | 'request'
  | 'provider'
  | 'unconfigured'
  | 'served'
  | 'model'
  | 'available'
  | 'callback'
  | 'rmsgNumber'
  | 'subscription'
  | 'phoned'
  | 'transfer'

/** The fixtures for the parameters of a path, in their order. The first pattern wins. */
export const rows: readonly [pattern: RegExp, kinds: readonly Kind[]][] = [
  [/^\/v1\/agents\/\{\w+\}\/tools\/\{/, ['agent', 'tool']],
  [/^\/v1\/(agents|rmsg)\/\{/, ['agent']],
  [/^\/v1\/calls\/\{\w+\}\/transfers\/\{/, ['phoned', 'transfer']],
  [/^\/v1\/calls\/\{\w+\}\/transfers\//, ['phoned']],
  [/^\/v1\/calls\/\{\w+\}\/web-join/, ['live']],
  [/^\/v1\/calls\/\{\w+\}\/recording/, ['recorded']],
  [/^\/v1\/(calls|sessions)\/\{/, ['talked']],
  [/^\/v1\/callbacks\/\{/, ['callback']],
  [/^\/v1\/phone-numbers\/sip-connections\/\{/, ['sipConnection']],
  [/^\/v1\/(phone-numbers|sms\/10dlc\/numbers)\/\{/, ['number']],
  [/^\/v1\/rmsg-phone-numbers\/webhook\/\{/, ['subscription']],
  [/^\/v1\/rmsg-phone-numbers\/\{/, ['rmsgNumber']],
  [/^\/v1\/webhooks\/\{/, ['webhook']],
  [/^\/v1\/webhook-deliveries\/\{/, ['delivery']],
  [/^\/v1\/providers\/\{\w+\}\/check/, ['served']],
  [/^\/v1\/providers\/\{/, ['provider']],
  [/^\/v1\/requests\/\{/, ['request']],
  [/^\/v1\/models\/\{/, ['model']],
]

/** For each operation that creates a resource: the operation for removing the resource. A session is ended instead. */
export const deletions: Readonly<Record<string, string>> = {
  createAgent: 'deleteAgent',
  createWebhook: 'deleteWebhook',
  createSipConnection: 'deleteSipConnection',
  importPhoneNumber: 'deletePhoneNumber',
  purchasePhoneNumber: 'deletePhoneNumber',
  putProviderKey: 'deleteProviderKey',
  putRmsgSubscription: 'deleteRmsgSubscription',
  createSession: 'endCall',
  createPhoneSession: 'endCall',
}

/** Operations with a unique `name`. */
export const named = new Set([
  'createAgent',
  'createAgentTool',
  'createWebhook',
  'createSipConnection',
  'updateSipConnection',
])

export const pathNames = ({ parameters }: Operation) =>
  parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)

/** Returns true if the operation ends the resource, so another resource must be made for it. */
export const isEnding = ({ id, method }: Operation) => method === 'DELETE' || id === 'endCall'

/** Only a call before its end can be ended. */
export const kindFor = ({ id }: Operation, kind: Kind): Kind =>
  id === 'endCall' && kind === 'talked' ? 'queued' : kind
