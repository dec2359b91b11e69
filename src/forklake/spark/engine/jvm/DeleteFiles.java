package forklake;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.roaringbitmap.RoaringBitmap;

/**
 * Positional delete files as bitmaps, cached in each executor.
 *
 * A delete file never changes under its path, so the path is the whole key of the cache. The least
 * recently used bitmaps leave when all together grow beyond a share of the heap.
 */
final class DeleteFiles {
    private static final String POSITION = "pos";
    private static final long LIMIT = Runtime.getRuntime().maxMemory() / 16L;
    private static final long OVERHEAD = 512L; // of an entry: path, map node, bitmap object
    private static final LinkedHashMap CACHE = new LinkedHashMap(16, 0.75f, true);
    private static long cached = 0L;

    private DeleteFiles() {}

    static RoaringBitmap read(String path, byte[] key, Configuration conf) throws IOException {
        synchronized (CACHE) {
            RoaringBitmap known = (RoaringBitmap) CACHE.get(path);
            if (known != null) {
                return known;
            }
        }
        RoaringBitmap bitmap;
        try {
            bitmap = load(new Path(path), key, conf);
        } catch (FileNotFoundException e) {
            throw new IOException("The delete file " + path + " does not exist", e);
        } catch (Exception e) {
            throw new IOException("The delete file " + path + " cannot be read: " + e, e);
        }
        bitmap.runOptimize();
        keep(path, bitmap);
        return bitmap;
    }

    private static void keep(String path, RoaringBitmap bitmap) {
        synchronized (CACHE) {
            if (CACHE.put(path, bitmap) == null) {
                cached += weight(bitmap);
            }
            Iterator oldest = CACHE.entrySet().iterator();
            while (cached > LIMIT && oldest.hasNext()) {
                cached -= weight((RoaringBitmap) ((Map.Entry) oldest.next()).getValue());
                oldest.remove();
            }
        }
    }

    private static long weight(RoaringBitmap bitmap) {
        return bitmap.getLongSizeInBytes() + OVERHEAD;
    }

    private static RoaringBitmap load(Path path, byte[] key, Configuration conf)
        throws IOException {
        HadoopReadOptions.Builder builder = HadoopReadOptions.builder(conf, path);
        if (key != null) {
            builder.withDecryption(Crypto.decryption(key));
        }
        ParquetReadOptions options = builder.build();
        ParquetFileReader reader =
            ParquetFileReader.open(HadoopInputFile.fromPath(path, conf), options);
        try {
            return positions(reader);
        } finally {
            reader.close();
        }
    }

    private static RoaringBitmap positions(ParquetFileReader reader) throws IOException {
        MessageType whole = reader.getFileMetaData().getSchema();
        MessageType schema =
            new MessageType(whole.getName(), new Type[] {whole.getType(POSITION)});
        reader.setRequestedSchema(schema);
        ColumnDescriptor column = schema.getColumnDescription(new String[] {POSITION});
        RoaringBitmap bitmap = new RoaringBitmap();
        PageReadStore pages = reader.readNextRowGroup();
        while (pages != null) {
            ColumnReader values = new ColumnReadStoreImpl(
                pages,
                new GroupRecordConverter(schema).getRootConverter(),
                schema,
                reader.getFileMetaData().getCreatedBy()).getColumnReader(column);
            for (long i = values.getTotalValueCount(); i > 0L; i--) {
                if (values.getCurrentDefinitionLevel() == column.getMaxDefinitionLevel()) {
                    bitmap.add(position(values.getLong()));
                }
                values.consume();
            }
            pages = reader.readNextRowGroup();
        }
        return bitmap;
    }

    /** A bitmap holds unsigned 32 bits. */
    static int position(long position) {
        if (position < 0L || position > 0xFFFFFFFFL) {
            throw new IllegalArgumentException("no row can have the position " + position);
        }
        return (int) position;
    }
}
