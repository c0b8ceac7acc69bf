import type { ProviderCheck } from '../../../../generated/clients/typescript/models/platform.ts'
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
        <Notice tone={toneOf(data)} title={data.message}>
          <p>
            {data.providerStatus !== null && (
              <>
                HTTP status <code>{data.providerStatus}</code>{' '}
              </>
            )}
            after {milliseconds(data.durationMs)}
          </p>
        </Notice>
      )}
      <CommandStrip
        command={{ method: 'POST', path: `/v1/providers/${provider}/check`, cli: `providers check ${provider}` }}
      />
    </Dialog>
  )
}

/** A check that proves only the address is no success for a person who asks about the key. */
const toneOf = ({ ok, proves }: ProviderCheck) => (!ok ? 'alarm' : proves === 'address' ? 'warn' : 'good')
