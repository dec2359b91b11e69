package forklake;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.crypto.DecryptionPropertiesFactory;
import org.apache.parquet.crypto.EncryptionPropertiesFactory;
import org.apache.parquet.crypto.FileDecryptionProperties;
import org.apache.parquet.crypto.FileEncryptionProperties;
import org.apache.parquet.hadoop.api.WriteSupport;

/**
 * Keys of Parquet files: the footer and all columns of a file share one key.
 *
 * The key of a written file is the first 16 bytes of HMAC-SHA256(key of the job, name of the file),
 * so that the driver can compute the key of every file.
 */
public final class Crypto implements DecryptionPropertiesFactory, EncryptionPropertiesFactory {
    static final String JOB_KEY = "forklake.secret.key";
    private static final int KEY_LENGTH = 16;

    public Crypto() {}

    public FileDecryptionProperties getFileDecryptionProperties(Configuration conf, Path path) {
        byte[] key = FileKey.opening();
        return key == null ? null : decryption(key);
    }

    static FileDecryptionProperties decryption(byte[] key) {
        return FileDecryptionProperties.builder().withFooterKey((byte[]) key.clone()).build();
    }

    public FileEncryptionProperties getFileEncryptionProperties(
        Configuration conf, Path path, WriteSupport.WriteContext context) {
        String jobKey = conf.get(JOB_KEY);
        if (jobKey == null) {
            return null;
        }
        return FileEncryptionProperties.builder(fileKey(jobKey, path.getName())).build();
    }

    private static byte[] fileKey(String jobKey, String name) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(Base64.getDecoder().decode(jobKey), "HmacSHA256"));
            byte[] digest = mac.doFinal(name.getBytes(StandardCharsets.UTF_8));
            return Arrays.copyOf(digest, KEY_LENGTH);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
