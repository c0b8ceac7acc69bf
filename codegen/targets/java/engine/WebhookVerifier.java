package dev.parley.client;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Checks that webhooks come from the server that has one of the secrets (Standard Webhooks 1.0).
 *
 * @param secrets the current secret and, while it is replaced, the one before
 * @param tolerance the limit for the age of a webhook
 * @param clock tells the present
 */
public record WebhookVerifier(List<String> secrets, Duration tolerance, Clock clock) {
    /** While the server replaces a secret, a webhook has two signatures. */
    private static final int SIGNATURES_MAX = 8;
    private static final int KEY_BYTES_MIN = 24;
    private static final int KEY_BYTES_MAX = 64;
    /** Anybody can sign with an empty secret, such as that of a variable that is not set. */
    private static final int SECRET_LENGTH_MIN = 8;
    private static final String STANDARD_PREFIX = "whsec_";

    /** Refuses a secret with fewer than 8 characters. */
    public WebhookVerifier {
        if (secrets.isEmpty() || secrets.stream().anyMatch(secret -> secret.length() < SECRET_LENGTH_MIN))
            throw new IllegalArgumentException("the secret of a webhook has at least 8 characters");
    }

    /** Makes a verifier for webhooks that are at most 5 minutes old. */
    public static WebhookVerifier of(String... secrets) {
        return new WebhookVerifier(List.of(secrets), Duration.ofMinutes(5), Clock.systemUTC());
    }

    /**
     * Throws a WebhookException unless a signature fits a secret and the webhook is recent. The signature covers the
     * exact bytes of the body, so the body must not be parsed and written again before.
     *
     * @param header returns a header by its name, or null
     */
    public void verify(UnaryOperator<String> header, byte[] body) {
        String id = header.apply("webhook-id");
        String timestamp = header.apply("webhook-timestamp");
        String signatures = header.apply("webhook-signature");
        if (Stream.of(id, timestamp, signatures).anyMatch(text -> text == null || text.isEmpty()))
            throw new WebhookException("header");
        if (!isRecent(timestamp)) throw new WebhookException("timestamp");
        byte[] head = (id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8);
        if (secrets.stream().noneMatch(secret -> isSigned(head, body, secret, signatures)))
            throw new WebhookException("signature");
    }

    private boolean isRecent(String timestamp) {
        if (!timestamp.matches("\\d{1,12}")) return false;
        Instant sent = Instant.ofEpochSecond(Long.parseLong(timestamp));
        return Duration.between(sent, clock.instant()).abs().compareTo(tolerance) <= 0;
    }

    private static boolean isSigned(byte[] head, byte[] body, String secret, String signatures) {
        byte[] expected = Base64.getEncoder().encode(hash(head, body, keyOf(secret)));
        return Stream.of(signatures.split("\\s+")).limit(SIGNATURES_MAX).filter(text -> text.startsWith("v1,"))
            .anyMatch(text -> MessageDigest.isEqual(text.substring(3).getBytes(StandardCharsets.UTF_8), expected));
    }

    private static byte[] hash(byte[] head, byte[] body, byte[] key) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update(head);
            return mac.doFinal(body);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Decodes a secret in the standard's form. Any other text is used unchanged. */
    private static byte[] keyOf(String secret) {
        byte[] key = secret.startsWith(STANDARD_PREFIX) ? decode(secret.substring(STANDARD_PREFIX.length())) : new byte[0];
        boolean isStandard = key.length >= KEY_BYTES_MIN && key.length <= KEY_BYTES_MAX;
        return isStandard ? key : secret.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns no bytes if the text is not what an encoder writes, such as a text without its padding. */
    private static byte[] decode(String text) {
        try {
            byte[] bytes = Base64.getDecoder().decode(text);
            return Base64.getEncoder().encodeToString(bytes).equals(text) ? bytes : new byte[0];
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }
}
