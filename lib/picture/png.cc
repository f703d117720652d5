#include <png.h>

#include <cstring>

#include "btf/inspect/picture.h"

namespace btf {

Result<std::string> png(const Picture& picture) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.rgb.data(), 0, nullptr) ==
      0)
    return fail(ErrorCode::unsupported, std::string("libpng: ") + image.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace btf
