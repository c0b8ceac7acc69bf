import { useState } from 'react'
import { useRotateSecret, useShowSecret } from '../../data/webhooks.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Faint, Line, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'

/**
 * The organization's signing secret, which signs the events for endpoints without a separate secret. It is shown only
 * when a person asks.
 */
export function SigningSecret() {
  const shown = useShowSecret()
  const rotated = useRotateSecret()
  const [isRotating, setRotating] = useState(false)
  const secret = rotated.data ?? shown.data
  return (
    <Card
      title="Signing secret"
      actions={
        <RoleButton needs="rotateWebhookSecret" isSmall onClick={() => setRotating(true)}>
          Replace
        </RoleButton>
      }
    >
      <Stack>
        <Faint>
          Each request is signed, so that your receiver knows who sent it. Endpoints can have another secret.
        </Faint>
        {secret ? (
          <Line>
            <code>{secret.secret}</code>
            <CopyButton text={secret.secret} label="Copy the secret" />
          </Line>
        ) : (
          <Line>
            <code aria-hidden="true">whsec_••••••••••••••••</code>
            <RoleButton needs="getWebhookSecret" isSmall disabled={shown.isPending} onClick={() => shown.mutate()}>
              Show the secret
            </RoleButton>
          </Line>
        )}
        <RoleNote needs="getWebhookSecret" action="Showing and replacing the secret" />
        {secret?.previousExpiresAt && (
          <p>
            The secret before signs too until <Moment at={secret.previousExpiresAt} />.
          </p>
        )}
        <ActionFault error={shown.error} />
      </Stack>
      {isRotating && (
        <RotateDialog
          error={rotated.error}
          isPending={rotated.isPending}
          rotate={(overlapS) => rotated.mutate(overlapS, { onSuccess: () => setRotating(false) })}
          onClose={() => setRotating(false)}
        />
      )}
    </Card>
  )
}

const overlaps = [
  { value: '86400', label: 'a day' },
  { value: '604800', label: 'a week' },
  { value: '3600', label: 'an hour' },
  { value: '0', label: 'no time: it has leaked' },
]

type RotateProps = { rotate: (overlapS: number) => void; isPending: boolean; error: unknown; onClose: () => void }

function RotateDialog({ rotate, isPending, error, onClose }: RotateProps) {
  return (
    <Dialog title="Replace the signing secret" onClose={onClose}>
      <Form
        error={error}
        submit={(values) => rotate(Number(values.text('overlap')))}
        actions={
          <Button type="submit" look="main" disabled={isPending}>
            Replace
          </Button>
        }
      >
        <SelectField label="The old secret also signs for" name="overlap" choices={overlaps} />
      </Form>
    </Dialog>
  )
}
