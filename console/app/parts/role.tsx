/** Offers an action only if the person's role may use its operation. Otherwise a sentence names the lowest role. */
import type { ComponentProps } from 'react'
import { lowestRole, type Operation, useMay } from '../data/may.ts'
import { Button } from './button.tsx'
import { Form, type FormProps } from './form.tsx'
import { Faint } from './layout.tsx'
import { LinkButton } from './link-button.tsx'

type Needs = { needs: Operation }

const sentence = (action: string, needs: Operation) => `${action} needs the role ${lowestRole(needs)}.`

/** Names the action's lowest role, or shows nothing if the person may act. `action` begins the sentence: "Saving". */
export function RoleNote({ needs, action }: Needs & { action: string }) {
  return useMay(needs) ? null : <Faint>{sentence(action, needs)}</Faint>
}

/** A button, disabled if the role is too low. A RoleNote on the page says why. */
export function RoleButton({ needs, disabled = false, ...rest }: ComponentProps<typeof Button> & Needs) {
  const may = useMay(needs)
  return <Button disabled={disabled || !may} {...rest} {...(!may && { title: sentence('This', needs) })} />
}

/** A link to a page for one action. If the role is too low, the link is a disabled button. */
export function RoleLink({ needs, ...link }: ComponentProps<typeof LinkButton> & Needs) {
  const may = useMay(needs)
  if (may) return <LinkButton {...link} />
  return (
    <Button disabled look={link.look ?? 'plain'} title={sentence('This', needs)}>
      {link.children}
    </Button>
  )
}

/** A form, read-only if the role is too low. `action` begins the sentence about the role: "Saving". */
export function RoleForm({ needs, action, actions, ...form }: FormProps & Needs & { action: string }) {
  const may = useMay(needs)
  return <Form {...form} isLocked={!may} actions={may ? actions : <RoleNote needs={needs} action={action} />} />
}
