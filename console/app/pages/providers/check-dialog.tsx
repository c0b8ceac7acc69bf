import type { ProviderCheck, ProviderCheckOutcome } from '../../../../generated/clients/typescript/models/platform.ts'
import type { useCheckProvider } from '../../data/providers.ts'
import { CommandStrip } from '../../parts/command-strip.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { milliseconds } from '../../parts/formats.ts'
import { ActionFault, Notice } from '../../parts/notice.tsx'

type CheckDialogProps = { provider: string; check: ReturnType<typeof useCheckProvider>; onClose: () => void }

/** Says whether the provider accepts the key, and how a program asks. */
export function CheckDialog({ provider, check: { data, error }, onClose }: CheckDialogProps) {
  return (
    <Dialog title={`Check of ${provider}`} onClose={onClose}>
      <ActionFault error={error} />
      {!data && !error && <p role="status">Waiting for an answer, for at most 10 s…</p>}
      {data && (
        <Notice tone={data.ok ? 'good' : 'alarm'} title={titleOf(data)}>
          <p>
            {data.providerStatus !== null && (
              <>
                HTTP status <code>{data.providerStatus}</code>{' '}
              </>
            )}
            after {milliseconds(data.durationMs)}
          </p>
          {data.ok && !isLimited(data) && (
            <p>
              A configured server with OpenAI’s protocol may show its list of models to everyone. Then this check proves
              only that the server answers.
            </p>
          )}
        </Notice>
      )}
      <CommandStrip
        command={{ method: 'POST', path: `/v1/providers/${provider}/check`, cli: `providers check ${provider}` }}
      />
    </Dialog>
  )
}

/** A provider may refuse the request of the check with words that prove the key. */
const isLimited = ({ ok, providerStatus }: ProviderCheck) => ok && providerStatus !== null && providerStatus >= 400

const titleOf = (check: ProviderCheck) =>
  isLimited(check)
    ? 'The provider knows the key, but the key may not send the request of this check.'
    : titles[check.outcome]

const titles: Record<ProviderCheckOutcome, string> = {
  succeeded: 'The provider accepts the key.',
  auth: 'The provider refuses the key.',
  quota: 'The provider knows the key, but the account has no credit or no plan for it.',
  rate_limited: 'The provider takes no more requests now.',
  overloaded: 'The provider, or this server’s connections to it, take no more requests now.',
  timeout: 'The provider does not answer.',
  unreachable: 'This server cannot connect to the provider.',
  server: 'The provider failed.',
  bad_request: 'The API of the provider does not have this request.',
  protocol: 'The answer is not of the API of the provider.',
}
