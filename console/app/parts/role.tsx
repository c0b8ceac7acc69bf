/** Offers an action only if the person's role may use its operation, and says otherwise which role the action needs. */
import type { ComponentProps } from 'react'
import { lowestRole, type Operation, useMay } from '../data/may.ts'
import { Button } from './button.tsx'
import { Form, type FormProps } from './form.tsx'
import { Faint } from './layout.tsx'
import { LinkButton } from './link-button.tsx'

type Needs = { needs: Operation }

const sentence = (action: string, needs: Operation) => `${action} needs the role ${lowestRole(needs)}.`

/** Says which role the action needs. Shows nothing if the person may do it. `action` begins the sentence: "Saving". */
export function RoleNote({ needs, action }: Needs & { action: string }) {
  return useMay(needs) ? null : <Faint>{sentence(action, needs)}</Faint>
}

/** A button that cannot be pressed if the role is too low. A RoleNote on the page says why. */
export function RoleButton({ needs, disabled = false, ...rest }: ComponentProps<typeof Button> & Needs) {
  const may = useMay(needs)
  return <Button disabled={disabled || !may} {...rest} {...(!may && { title: sentence('This', needs) })} />
}

/** A link to a page for one action. If the role is too low, the link is a button that cannot be pressed. */
export function RoleLink({ needs, ...link }: ComponentProps<typeof LinkButton> & Needs) {
  const may = useMay(needs)
  if (may) return <LinkButton {...link} />
  return (
    <Button disabled look={link.look ?? 'plain'} title={sentence('This', needs)}>
      {link.children}
    </Button>
  )
}

/** A form that a person with a lower role only reads. `action` begins the sentence about the role: "Saving". */
export function RoleForm({ needs, action, actions, ...form }: FormProps & Needs & { action: string }) {
  const may = useMay(needs)
  return <Form {...form} isLocked={!may} actions={may ? actions : <RoleNote needs={needs} action={action} />} />
}
