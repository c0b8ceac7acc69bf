import { Authentication } from './authentication.ts'
import type { ResponseHandlers } from './client-transaction.ts'
import type { Dialog } from './dialog.ts'
import type { Credentials } from './digest.ts'
import type { Header } from './message.ts'
import type { Transactions } from './transactions.ts'

export type InDialogDeps = {
  transactions: Transactions
  /** The login for our requests, or null if the trunk requires no login. */
  credentials: Credentials | null
}

/** Sends a request in the dialog. If the other side challenges the request, sends it again with the login. */
export function sendInDialog(
  { transactions, credentials }: InDialogDeps,
  dialog: Dialog,
  { method, headers = [] }: { method: string; headers?: readonly Header[] },
  handlers: ResponseHandlers,
): void {
  const authentication = new Authentication(credentials)
  const send = (more: readonly Header[]) => {
    const draft = dialog.draft(method, [...headers, ...more])
    transactions.request(draft, dialog.start.peer, {
      response: (response) => {
        const login = authentication.answer(response, draft)
        if (login === null) handlers.response(response)
        else send([login])
      },
      timeout: () => handlers.timeout(),
    })
  }
  send([])
}
